"""Web pages to leads: archives are read, facts taken from each page, the pages of a domain merged into one lead.

    WARC files --archives--> captures --extract--> page facts (Parquet) --merge--> leads and evidence (Parquet) --> load

Extraction is pure: a capture in, facts out, no engine. A process pool and Spark drive the same code.
"""
