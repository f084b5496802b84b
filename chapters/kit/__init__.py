"""What every notebook of the book works with, in the order in which it meets it.

1. :mod:`~chapters.kit.parameters` declares a notebook's parameters once: types, ranges, meanings. Refusals, ``rerun``,
   ``sweep`` and the book's table follow. What could not fit into memory is refused by
   :mod:`~chapters.kit.least_memory`.
2. ``start(globals(), Parameters)`` of :mod:`~chapters.kit.start` checks them, caps the BLAS threads, sets the style.
3. ``stored("name")`` of :mod:`~chapters.kit.stored` opens ``chapters/<chapter>/results/name.json``, unless it was
   edited by hand. :mod:`~chapters.kit.running` makes it again.
4. ``publish(key=value)``, ``say`` and ``caption`` of :mod:`~chapters.kit.publish` hand numbers, sentences and figures
   to the book's pages; claims are recorded by :mod:`chapters.claims`.
5. :mod:`~chapters.kit.pictures` turns a figure into what the page, a phone (:mod:`~chapters.kit.phone`,
   :mod:`~chapters.kit.fitting`) and JupyterLab need; :mod:`~chapters.kit.explorer` adds the data of a figure that the
   reader operates.

Nothing here is mathematics, and nothing here knows a chapter.
"""
