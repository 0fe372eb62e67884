"""Files of recorded rounds in, columnar rounds and rejects out."""
