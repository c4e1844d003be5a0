"""Files: reading text, atomic writing, JSON, and results with a checksum."""
