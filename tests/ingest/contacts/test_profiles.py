"""Profiles on networks: one spelling each, and none of the links that share or sign in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.corpus.lead import SOCIAL_NETWORKS
from siteglass.ingest.extract.profiles import MAX_OTHER, profiles
from tests.ingest.contacts.making import PAGE_LIMIT_MS, page, slowest_ms


def linked(*addresses: str) -> tuple[dict[str, str], tuple[str, ...]]:
    found = profiles(page("".join(f'<a href="{address}">x</a>' for address in addresses)))
    return found.social, found.other


@pytest.mark.parametrize(
    ("address", "network", "expected"),
    [
        ("https://www.facebook.com/acme", "facebook", "https://www.facebook.com/acme"),
        ("http://facebook.com/acme/", "facebook", "https://www.facebook.com/acme"),
        ("//m.facebook.com/acme?ref=ts&fref=ts", "facebook", "https://www.facebook.com/acme"),
        ("https://de-de.facebook.com/acme#x", "facebook", "https://www.facebook.com/acme"),
        ("https://fb.com/acme", "facebook", "https://www.facebook.com/acme"),
        ("https://www.facebook.com/pg/acme/about/", "facebook", "https://www.facebook.com/acme"),
        (
            "https://www.facebook.com/profile.php?id=1000&amp;sk=about",
            "facebook",
            "https://www.facebook.com/profile.php?id=1000",
        ),
        ("https://www.facebook.com/pages/Acme-Inc/123", "facebook", "https://www.facebook.com/pages/Acme-Inc/123"),
        ("https://www.facebook.com/groups/acme", "facebook", "https://www.facebook.com/groups/acme"),
        (
            "https://de.linkedin.com/company/acme-gmbh/about/?x=1",
            "linkedin",
            "https://www.linkedin.com/company/acme-gmbh",
        ),
        ("https://www.linkedin.com/in/anna-berg-1a2b", "linkedin", "https://www.linkedin.com/in/anna-berg-1a2b"),
        ("https://twitter.com/acme?lang=de", "twitter", "https://x.com/acme"),
        ("https://mobile.twitter.com/@acme", "twitter", "https://x.com/acme"),
        ("http://twitter.com/#!/acme", "twitter", "https://x.com/acme"),
        ("https://x.com/acme", "twitter", "https://x.com/acme"),
        ("https://instagram.com/Acme.Shop/?hl=de", "instagram", "https://www.instagram.com/acme.shop"),
        ("https://www.youtube.com/@acme/videos", "youtube", "https://www.youtube.com/@acme"),
        ("https://m.youtube.com/channel/UCabc_1-2", "youtube", "https://www.youtube.com/channel/UCabc_1-2"),
        ("https://youtube.com/user/acme?sub_confirmation=1", "youtube", "https://www.youtube.com/user/acme"),
        ("https://www.youtube.com/acme", "youtube", "https://www.youtube.com/acme"),
        ("https://www.tiktok.com/@acme?lang=de-DE", "tiktok", "https://www.tiktok.com/@acme"),
        ("https://www.pinterest.de/acme/", "pinterest", "https://www.pinterest.com/acme"),
        ("https://uk.pinterest.com/acme", "pinterest", "https://www.pinterest.com/acme"),
    ],
)
def test_each_profile_has_one_spelling(address: str, network: str, expected: str) -> None:
    assert linked(address) == ({network: expected}, ())


@pytest.mark.parametrize(
    "address",
    [
        "https://www.facebook.com/",
        "https://www.facebook.com/sharer/sharer.php?u=https://firma.de",
        "https://www.facebook.com/sharer.php?u=x",
        "https://www.facebook.com/share.php?u=x",
        "https://www.facebook.com/dialog/share?app_id=1",
        "https://www.facebook.com/acme/posts/123",
        "https://www.facebook.com/events/123",
        "https://www.facebook.com/profile.php",
        "https://www.facebook.com/login.php",
        "https://l.facebook.com/l.php?u=x",
        "https://developers.facebook.com/docs",
        "https://www.linkedin.com/shareArticle?mini=true&url=x",
        "https://www.linkedin.com/sharing/share-offsite/?url=x",
        "https://www.linkedin.com/feed/",
        "https://www.linkedin.com/company/",
        "https://twitter.com/intent/tweet?text=x",
        "https://twitter.com/share?url=x",
        "https://twitter.com/home?status=x",
        "https://twitter.com/acme/status/123",
        "https://twitter.com/search?q=x",
        "https://twitter.com/hashtag/x",
        "https://x.com/i/flow/login",
        "https://www.instagram.com/p/Cabc/",
        "https://www.instagram.com/explore/tags/x",
        "https://www.youtube.com/watch?v=abc",
        "https://www.youtube.com/embed/abc",
        "https://www.youtube.com/playlist?list=x",
        "https://youtu.be/abc",
        "https://www.tiktok.com/tag/x",
        "https://www.pinterest.com/pin/create/button/?url=x",
        "https://www.pinterest.com/pin/123",
        "https://notfacebook.com/acme",
        "https://facebook.com.firma.de/acme",
        "https://firma.de/facebook.com/acme",
        "https://firma.de/?u=https://facebook.com/acme",
        "https://wa.me/4915123456789",
        "https://t.me/share/url?url=x",
        "https://vimeo.com/123456",
        "https://medium.com/topic/x",
        "https://vk.com/share.php?url=x",
        "https://github.com/",
        "https://[bad/acme",
        "mailto:facebook.com/acme",
        "/facebook.com/acme",
    ],
)
def test_other_links_are_no_profiles(address: str) -> None:
    assert linked(address) == ({}, ())


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://github.com/acme/repo", "https://github.com/acme"),
        ("https://www.xing.com/pages/acme?x=1", "https://www.xing.com/pages/acme"),
        ("https://m.vk.com/acme", "https://vk.com/acme"),
        ("https://www.threads.net/@acme", "https://www.threads.net/@acme"),
        ("https://www.threads.com/@acme", "https://www.threads.net/@acme"),
        ("https://t.me/s/acme", "https://t.me/acme"),
        ("https://telegram.me/acme", "https://t.me/acme"),
        ("https://bsky.app/profile/acme.bsky.social", "https://bsky.app/profile/acme.bsky.social"),
        ("https://mastodon.social/@acme", "https://mastodon.social/@acme"),
        ("https://vimeo.com/acme", "https://vimeo.com/acme"),
        ("https://discord.com/invite/abc", "https://discord.gg/abc"),
        ("https://www.twitch.tv/Acme", "https://www.twitch.tv/acme"),
        ("https://www.yelp.de/biz/acme-berlin", "https://www.yelp.com/biz/acme-berlin"),
    ],
)
def test_profiles_on_other_networks(address: str, expected: str) -> None:
    assert linked(address) == ({}, (expected,))


def test_the_first_of_each_network_counts_and_links_come_before_structured_data() -> None:
    html = """<script type="application/ld+json">
        {"sameAs": ["https://x.com/later", "https://www.tiktok.com/@acme", 7]}</script>
      <a href="https://twitter.com/acme">a</a><a href="https://twitter.com/other">b</a><a href="https://github.com/acme">c</a>
      <a href="https://github.com/acme/">d</a>"""

    assert profiles(page(html)) == (
        {"twitter": "https://x.com/acme", "tiktok": "https://www.tiktok.com/@acme"},
        ("https://github.com/acme",),
    )


def test_a_network_has_no_profiles_on_itself() -> None:
    found = profiles(page('<a href="https://github.com/acme">a</a>', "https://github.com/other"))

    assert found == ({}, ())


def test_other_profiles_are_bounded() -> None:
    _, other = linked(*(f"https://github.com/acme{number}" for number in range(100)))

    assert len(other) == MAX_OTHER


def test_no_page_takes_long() -> None:
    assert slowest_ms(profiles) < PAGE_LIMIT_MS


_PIECES = st.sampled_from(
    ["https://", "//", "www.", "facebook.com", "x.com", "/", "?", "#!/", "@", "acme", "%", "[", ":80", "t.me"]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=4)), max_size=10).map("".join))
def test_whatever_is_linked_only_profiles_come_out(address: str) -> None:
    social, other = linked(address.replace('"', ""))
    assert set(social) <= set(SOCIAL_NETWORKS)
    assert all(one.startswith("https://") and len(one) <= 250 for one in (*social.values(), *other))
