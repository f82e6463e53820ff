"""Technologies: what a page is made with and what it loads, by the rules in `rules/`. Names are the vocabulary's."""

from siteglass.ingest.extract.technologies.matcher import technology_marks

__all__ = ["technology_marks"]
