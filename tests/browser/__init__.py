"""Every page in a browser: ``make test-browser``, with an installed Chromium."""
