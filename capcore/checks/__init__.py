"""What an argument may be: one call at each public function; messages say found, expected, and what to do."""
