"""What WeightWatcher 0.7.7 says about a checkpoint, number for number, so that its users can check this package.

Nothing here is a recommendation: failed layers count as α = −1, small layers are fitted by another formula than large
ones, and layers are left out without a word, as in the tool. What this package does by default, and why it differs,
is on the page on WeightWatcher. The code is our own, written to the tool's formulas; its numbers are kept as goldens
in the tests.
"""
