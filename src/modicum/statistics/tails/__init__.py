"""How far records beyond bounds may move an answer, and the error models made of it."""
