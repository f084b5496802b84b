"""Long experiments: each writes one small JSON file that a notebook reads. See ``chapters.stored``."""
