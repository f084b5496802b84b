"""What the verbs return, as records, tables, labelled arrays and pictures in notebooks."""
