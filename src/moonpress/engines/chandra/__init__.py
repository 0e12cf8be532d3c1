"""Chandra-OCR models served over the OpenAI chat API, as vLLM does."""
