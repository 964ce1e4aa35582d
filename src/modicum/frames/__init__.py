"""Any table or array as chunks of float64 columns; no engine is imported here."""
