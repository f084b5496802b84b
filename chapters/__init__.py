"""What each chapter of the book needs beyond ``capcore``: one folder a notebook, and what serves all of them.

``chapters.X`` belongs to ``notebooks/X.ipynb``. A chapter imports ``capcore``, ``chapters.shared`` and chapters before
it in ``_toc.yml``; ``capcore`` knows none of them.
"""
