"""What the chapters compute beyond the pipeline: one module per question, each usable on a model of one's own."""
