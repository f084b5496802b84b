"""What an argument may be: one call at each public function, and a message with what was found, expected, and what to do."""
