"""The engine ``hf``: Chandra models in a process of this machine, through transformers."""
