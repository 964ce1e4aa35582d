"""Accuracy and speed side by side with other methods and libraries; see ``__main__``."""
