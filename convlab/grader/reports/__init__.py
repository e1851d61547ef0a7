"""What the marks are told with: tables for an LMS, a page for each student, and one for whoever teaches."""
