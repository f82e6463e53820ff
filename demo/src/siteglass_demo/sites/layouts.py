"""Frames of pages: how each platform, and each habit of writing HTML by hand, lays out the same parts."""

# ruff: noqa: E501 - HTML breaks its lines elsewhere than code does
from __future__ import annotations

from collections.abc import Callable

from siteglass_demo.sites.parts import Parts


def _links(parts: Parts, item: str = "{}", attributes: str = "") -> str:
    """The menu; `item` frames each link."""
    return "\n".join(item.format(f'<a href="{href}"{attributes}>{text}</a>') for href, text in parts.menu)


def _framed(pieces: list[str], frame: str) -> str:
    return "\n".join(frame.format(piece) for piece in pieces)


def _sections(parts: Parts, frame: str, heading: str = "<h2>{}</h2>", text: str = "<p>{}</p>") -> str:
    return "\n".join(
        frame.format(heading.format(title) + "\n" + _framed(texts, text)) for title, texts in parts.sections
    )


def _page(parts: Parts, body: str, *, doctype: str = "<!DOCTYPE html>", attributes: str = "") -> str:
    style = f"<style>{parts.style}</style>"
    return (
        f"{doctype}\n<html{parts.lang}>\n<head>\n{parts.head}\n{style}\n</head>\n<body{attributes}>\n{body}\n"
        f"{parts.scripts}\n</body>\n</html>\n"
    )


def wordpress(parts: Parts) -> str:
    """A block theme."""
    body = f"""<a class="skip-link screen-reader-text" href="#content">Skip to content</a>
<header id="masthead" class="site-header"><div class="site-branding"><p class="site-title"><a href="/" rel="home">
<img src="/wp-content/uploads/2023/04/logo.png" srcset="/wp-content/uploads/2023/04/logo@2x.png 2x" alt=""></a></p></div>
<nav class="main-navigation"><ul id="primary-menu" class="menu">
{_links(parts, '<li class="menu-item menu-item-type-post_type">{}</li>')}</ul></nav></header>
<main id="content" class="site-main"><article class="page type-page hentry"><header class="entry-header">{parts.heading}
</header><div class="entry-content">{_sections(parts, '<div class="wp-block-group is-layout-constrained">{}</div>')}
<div class="wp-block-columns">{_framed(parts.cards, '<figure class="wp-block-image size-large">{}</figure>')}</div>
</div></article></main>
<footer id="colophon" class="site-footer"><div class="widget widget_text">{_framed(parts.contacts, "<p>{}</p>")}</div>
<div class="social-navigation">{_framed(parts.profiles, "<span>{}</span>")}</div></footer>"""
    return _page(parts, body, attributes=' class="home page-template-default page wp-embed-responsive"')


def shopify(parts: Parts) -> str:
    """A shop with sections and products."""
    card = '<li class="grid__item"><div class="card-wrapper product-card-wrapper">{}</div></li>'
    body = f"""<div id="shopify-section-announcement-bar" class="shopify-section">
<div class="announcement-bar" role="region"><p>{parts.sections[0][0]}</p></div></div>
<div id="shopify-section-header" class="shopify-section section-header"><header class="header"><nav class="header__inline-menu">
<ul class="list-menu">{_links(parts, "<li>{}</li>", ' class="header__menu-item"')}</ul></nav>
<a href="/cart" class="header__icon--cart" id="cart-icon-bubble">0</a></header></div>
<main id="MainContent" class="content-for-layout" role="main">{parts.heading}
{_sections(parts, '<section class="shopify-section rich-text">{}</section>')}
<ul class="grid product-grid">{_framed(parts.cards, card)}</ul></main>
<footer class="footer"><div class="footer-block__details-content rte">{_framed(parts.contacts, "<p>{}</p>")}</div>
<ul class="footer__list-social list-unstyled">{_framed(parts.profiles, '<li class="list-social__item">{}</li>')}</ul></footer>"""
    return _page(parts, body, attributes=' class="gradient"')


def wix(parts: Parts) -> str:
    """Deeply nested boxes with names of machines."""
    rich = '<div class="KcpHeO tz5f0K comp-lb2 wixui-rich-text" data-testid="richTextElement">{}</div>'
    contacts = _framed(parts.contacts, '<p class="font_8" style="font-size:15px"><span class="color_15">{}</span></p>')
    body = f"""<div id="SITE_CONTAINER"><div id="main_MF"><div id="site-root"><div id="masterPage" class="mesh-layout">
<header id="SITE_HEADER" class="x4zVYf SITE_HEADER wixui-header"><div class="MazNVa"><wix-dropdown-menu id="comp-nav">
<nav>{_links(parts, '<div class="xU8fqS">{}</div>', ' data-testid="linkElement"')}</nav></wix-dropdown-menu></div></header>
<main id="PAGES_CONTAINER"><div id="SITE_PAGES">{rich.format(parts.heading)}
{_sections(parts, rich, '<h2 class="font_2">{}</h2>', '<p class="font_8"><span>{}</span></p>')}
{_framed(parts.cards, '<div role="listitem" class="T7n0L6"><div class="cGWabE">{}</div></div>')}</div></main>
<footer id="SITE_FOOTER" class="wixui-footer">{rich.format(contacts)}
<ul class="lsZ3_W wixui-social-bar">{_framed(parts.profiles, '<li class="Q7JpTK">{}</li>')}</ul></footer>
</div></div></div></div>"""
    return _page(parts, body)


def squarespace(parts: Parts) -> str:
    """Rows and columns of blocks."""
    block = '<div class="sqs-block html-block"><div class="sqs-block-content">{}</div></div>'
    body = f"""<div id="siteWrapper" class="clearfix site-wrapper"><header data-test="header" id="header" class="header">
<div class="header-nav"><nav class="header-nav-list">{_links(parts, '<div class="header-nav-item">{}</div>')}</nav></div>
</header><main id="page" class="container" role="main"><article class="sections">{block.format(parts.heading)}
{_sections(parts, '<section class="page-section"><div class="sqs-layout sqs-grid-12"><div class="row">{}</div></div></section>')}
{_framed(parts.cards, '<figure class="gallery-grid-item">{}</figure>')}</article></main>
<footer class="sections" id="footer-sections">{block.format(_framed(parts.contacts, '<p class="sqsrte-small">{}</p>'))}
<div class="socialaccountlinks-v2-block">{_framed(parts.profiles, "{}")}</div></footer></div>"""
    return _page(parts, body)


def webflow(parts: Parts) -> str:
    """Classes of a designer."""
    body = f"""<div data-collapse="medium" role="banner" class="navbar w-nav"><div class="w-container">
<nav role="navigation" class="nav-menu w-nav-menu">{_links(parts, "{}", ' class="nav-link w-nav-link"')}</nav></div></div>
<section class="hero"><div class="w-layout-blockcontainer container">{parts.heading}</div></section>
{_sections(parts, '<section class="section"><div class="w-richtext">{}</div></section>', '<h3 class="heading-3">{}</h3>')}
<div class="w-dyn-list"><div role="list" class="w-dyn-items">
{_framed(parts.cards, '<div role="listitem" class="w-dyn-item">{}</div>')}</div></div>
<div class="footer">{_framed(parts.contacts, '<div class="text-block">{}</div>')}
<div class="social-wrap">{_framed(parts.profiles, '<div class="link-block w-inline-block">{}</div>')}</div></div>"""
    return _page(parts, body)


def next_js(parts: Parts) -> str:
    """Rendered on a server, everything on one line."""
    body = f"""<div id="__next"><div class="min-h-screen flex flex-col"><header class="sticky top-0"><nav class="flex gap-6">
{_links(parts, "{}", ' class="text-sm font-medium"')}</nav></header><main class="flex-1">{parts.heading}
{_sections(parts, '<section class="mx-auto max-w-7xl px-6 py-24">{}</section>', '<h2 class="text-3xl">{}</h2>')}
<div class="grid grid-cols-3">{_framed(parts.cards, '<div class="rounded-2xl">{}</div>')}</div></main>
<footer class="border-t">{_framed(parts.contacts, '<p class="text-xs">{}</p>')}{_framed(parts.profiles, "{}")}</footer>
</div></div>"""
    return _page(parts, body.replace("\n", ""))


def react_shell(parts: Parts) -> str:
    """Nothing but an empty box: what there is to know is in the head."""
    return _page(parts, '<noscript>You need to enable JavaScript to run this app.</noscript>\n<div id="root"></div>')


def table(parts: Parts) -> str:
    """Made in 2003 and never touched again."""
    rows = _sections(
        parts, '<tr><td colspan="2" valign="top">{}</td></tr>', "<b>{}</b>", '<font face="Arial">{}<br></font>'
    )
    body = f"""<center><table border="0" cellpadding="4" cellspacing="0" width="760" bgcolor="#ffffff">
<tr><td colspan="2" align="center"><img src="images/banner.gif" width="740" height="110">{parts.heading}</td></tr>
<tr><td width="160" bgcolor="#dddddd" valign="top">{_links(parts, "{}<br>")}</td>
<td><table width="100%">{rows}</table></td></tr>
{_framed(parts.cards, '<tr><td colspan="2">{}</td></tr>')}
<tr><td colspan="2" align="center"><font size="-1">{_framed(parts.contacts, "{}<br>")}
{_framed(parts.profiles, "{}")}</font></td></tr></table></center>"""
    doctype = '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">'
    return _page(parts, body, doctype=doctype, attributes=' bgcolor="#cccccc" text="#000000"')


def bootstrap(parts: Parts) -> str:
    """Rows, columns, cards."""
    body = f"""<nav class="navbar navbar-expand-lg bg-body-tertiary"><div class="container-fluid"><ul class="navbar-nav">
{_links(parts, '<li class="nav-item">{}</li>', ' class="nav-link"')}</ul></div></nav>
<div class="container py-5"><div class="row"><div class="col-lg-12">{parts.heading}</div></div>
<div class="row">{_sections(parts, '<div class="col-md-6 mb-4">{}</div>', '<h3 class="h4">{}</h3>', '<p class="lead">{}</p>')}
</div><div class="row">{_framed(parts.cards, '<div class="col-4"><div class="card"><div class="card-body">{}</div></div></div>')}
</div></div><footer class="bg-dark text-white"><address>{_framed(parts.contacts, "{}<br>")}</address>
<ul class="list-inline">{_framed(parts.profiles, '<li class="list-inline-item">{}</li>')}</ul></footer>"""
    return _page(parts, body)


def plain(parts: Parts) -> str:
    """HTML as a person types it, tags left open."""
    body = f"""{parts.heading}
<p>{_links(parts, "[{}]")}
{_sections(parts, "<hr>{}", "<h2>{}</h2>", "<p>{}")}
<ul>{_framed(parts.cards, "<li>{}")}</ul>
<hr><address>{_framed(parts.contacts, "{}<br>")}</address>
<p>{_framed(parts.profiles, "{}")}"""
    return _page(parts, body, doctype="<!doctype html>")


def imprint(parts: Parts) -> str:
    """A German site: columns of text, everything of weight in the imprint."""
    body = f"""<div id="page"><div id="header"><a href="/"><img src="/fileadmin/logo.svg" alt=""></a><ul id="nav">
{_links(parts, '<li class="lvl-1">{}</li>')}</ul></div><div id="content"><div class="csc-header">{parts.heading}</div>
{_sections(parts, '<div id="c42" class="frame frame-default frame-type-text">{}</div>', "<h2>{}</h2>", '<p class="bodytext">{}</p>')}
{_framed(parts.cards, '<div class="ce-gallery">{}</div>')}</div>
<div id="footer"><dl>{_framed(parts.contacts, "<dd>{}</dd>")}</dl><p>{_framed(parts.profiles, "{}")}</p></div></div>"""
    return _page(parts, body)


def modern(parts: Parts) -> str:
    """Elements by their meaning, built by a static generator."""
    body = f"""<header><nav aria-label="main">{_links(parts)}</nav></header>
<main>{parts.heading}{_sections(parts, "<section>{}</section>")}
<aside>{_framed(parts.cards, "<figure>{}</figure>")}</aside></main>
<footer><address>{_framed(parts.contacts, "<p>{}</p>")}</address><nav>{_framed(parts.profiles, "{}")}</nav></footer>"""
    return _page(parts, body, attributes=' class="no-js"')


def drupal(parts: Parts) -> str:
    """Regions, blocks and fields."""
    block = '<div class="block block-block-content"><div class="field field--name-body">{}</div></div>'
    body = f"""<div class="dialog-off-canvas-main-canvas"><header role="banner"><nav role="navigation" class="block-menu">
<ul data-region="primary_menu" class="menu">{_links(parts, '<li class="menu-item">{}</li>')}</ul></nav></header>
<main role="main"><div class="region region-content">{block.format(parts.heading)}{_sections(parts, block)}
<div class="views-element-container">{_framed(parts.cards, '<div class="views-row">{}</div>')}</div></div></main>
<footer class="region-footer">{block.format(_framed(parts.contacts, "<p>{}</p>"))}
{_framed(parts.profiles, '<span class="social-media-link">{}</span>')}</footer></div>"""
    return _page(parts, body, attributes=' class="path-frontpage page-node-type-page"')


LAYOUTS: dict[str, Callable[[Parts], str]] = {
    "wordpress": wordpress,
    "shopify": shopify,
    "wix": wix,
    "squarespace": squarespace,
    "webflow": webflow,
    "next": next_js,
    "react_shell": react_shell,
    "table": table,
    "bootstrap": bootstrap,
    "plain": plain,
    "imprint": imprint,
    "modern": modern,
    "drupal": drupal,
    "joomla": modern,
}
