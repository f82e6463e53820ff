"""Made-up web sites with labels, as WARC files: what a crawl pipeline should find is known for each.

    for site in sites(1_000, seed=1):          # labels; the same for the same seed
        for served in pages(site):             # its captures, 3 to 9: bodies decoded, with the headers as sent
            ...
    labels = write_warc(path, sites(1_000, seed=1), seed=1, corrupt_percent=1)
    labels = write_folder(folder, 2_000, seed=1, files=4)    # pages of a site lie in several files, as in real crawls

On the command line, `python -m siteglass_demo.sites --count 2000 --seed 1 --files 4 FOLDER` writes `sites-*.warc.gz`
and `labels.ndjson`, one `Site` a line. `read_labels` reads them.

Sites come from the demo leads, so natural-language searches make sense on them. `Site.hard` names the hard cases a site
carries. `Site.damaged` is set where a record of the site was broken on purpose, so that not all of it can be found. A
label lists only what the captures show: a phone has its national form only where something else shows the country.
"""

from __future__ import annotations

from siteglass_demo.sites.draw import draw_sites as sites
from siteglass_demo.sites.label import Email, Phone, Served, Site
from siteglass_demo.sites.serve import serve as pages
from siteglass_demo.sites.writing import read_labels, write_folder, write_warc

__all__ = ["Email", "Phone", "Served", "Site", "pages", "read_labels", "sites", "write_folder", "write_warc"]
