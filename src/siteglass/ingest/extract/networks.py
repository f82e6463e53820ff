"""Networks that firms have profiles on, and the one spelling of a profile's address on each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs

Spell = Callable[[list[str], str], str]
"""The one spelling of the address of a profile, from steps of a path and a query; "" if there is no profile."""

_NAME = re.compile(r"[\w.\-%~@+]{1,100}")


class Network(NamedTuple):
    """How a network writes the addresses of its profiles."""

    key: str
    """As in lead.SOCIAL_NETWORKS; "" for the others."""
    domain: str
    spell: Spell

    def is_own(self, domain: str) -> bool:
        """Whether the page is the network's own: its links are not its owner's profiles."""
        return domain == self.domain


def _named(base: str, reserved: str, *, at: bool = False, lower: bool = False, alone: bool = False) -> Spell:
    """Networks whose profiles are `base` and a name; if so set, with @ before it, lower case, or nothing after it."""
    no_names = frozenset(reserved.split())

    def spell(steps: list[str], query: str) -> str:
        if not steps or (alone and len(steps) > 1):
            return ""
        name = steps[0]
        if at:
            if not name.startswith("@"):
                return ""
        elif name.startswith("@"):
            name = name[1:]
        bare = name.lstrip("@")
        if bare.lower() in no_names or not _NAME.fullmatch(bare) or bare.endswith((".php", ".html", ".aspx")):
            return ""
        return base + (name.lower() if lower else name)

    return spell


def _below(base: str, kinds: str) -> Spell:
    """Networks whose profiles are a kind and a name: /company/acme."""
    known = frozenset(kinds.split())

    def spell(steps: list[str], query: str) -> str:
        if len(steps) < 2 or steps[0].lower() not in known or not _NAME.fullmatch(steps[1]):
            return ""
        return f"{base}{steps[0].lower()}/{steps[1]}"

    return spell


_facebook_named = _named(
    "https://www.facebook.com/",
    "sharer share share.php sharer.php dialog plugins login login.php home.php home hashtag photo photo.php photos "
    "events event groups_feed watch marketplace story.php permalink.php posts video videos help policies policy.php "
    "privacy legal tr l.php notes about ads business gaming messages people_search search settings recover campaign "
    "terms.php terms reel "
    "reels media sharer.html 2008 fbml fb.com facebook facebook_sharer",
)


def _facebook(steps: list[str], query: str) -> str:
    if not steps:
        return ""
    first = steps[0].lower()
    if first == "profile.php":
        number = parse_qs(query[:500]).get("id", [""])[0]
        return f"https://www.facebook.com/profile.php?id={number}" if number.isdigit() else ""
    if first in ("pages", "people") and len(steps) >= 3 and steps[2].isdigit():
        return f"https://www.facebook.com/{first}/{steps[1]}/{steps[2]}"
    if first in ("groups", "pg", "p") and len(steps) >= 2 and _NAME.fullmatch(steps[1]):
        return (
            f"https://www.facebook.com/{steps[1]}" if first == "pg" else f"https://www.facebook.com/{first}/{steps[1]}"
        )
    if first in ("pages", "people", "groups", "pg", "p"):
        return ""
    if len(steps) > 1 and steps[1].lower() in ("posts", "photos", "videos", "events"):
        # A post: the name may be anybody's, but all posts of a page are below its name.
        return "" if len(steps) > 2 else _facebook_named(steps, query)
    return _facebook_named(steps, query)


def _linkedin(steps: list[str], query: str) -> str:
    if len(steps) >= 2 and steps[0].lower() in ("company", "in", "school", "showcase") and _NAME.fullmatch(steps[1]):
        return f"https://www.linkedin.com/{steps[0].lower()}/{steps[1]}"
    if len(steps) >= 2 and steps[0].lower() == "company-beta" and _NAME.fullmatch(steps[1]):
        return f"https://www.linkedin.com/company/{steps[1]}"
    return ""


_X_RESERVED = (
    "intent share home search hashtag login signup i explore settings tos privacy about statuses status widgets "
    "messages compose download account jobs oauth twitter x"
)
_twitter_named = _named("https://x.com/", _X_RESERVED)


def _twitter(steps: list[str], query: str) -> str:
    if len(steps) > 1 and steps[1].lower() in ("status", "statuses"):
        return ""
    name = steps[0].lstrip("@") if steps else ""
    return _twitter_named(steps[:1], query) if re.fullmatch(r"\w{1,15}", name) else ""


def _youtube(steps: list[str], query: str) -> str:
    if not steps:
        return ""
    first = steps[0]
    if first.startswith("@") and _NAME.fullmatch(first):
        return f"https://www.youtube.com/{first}"
    if first in ("channel", "c", "user") and len(steps) > 1 and _NAME.fullmatch(steps[1]):
        return f"https://www.youtube.com/{first}/{steps[1]}"
    return _youtube_named(steps, query)


_youtube_named = _named(
    "https://www.youtube.com/",
    "watch embed playlist results feed shorts live v e redirect about t channel c user premium gaming music kids ads "
    "creators howyoutubeworks iframe_api upload subscription_center attribution_link s yt hashtag post clip account "
    "youtube channels trending signin login",
    alone=True,
)
_pinterest = _named(
    "https://www.pinterest.com/",
    "pin search ideas login business categories explore join today about _ settings topics source discover pinterest",
)
_instagram = _named(
    "https://www.instagram.com/",
    "p reel reels explore accounts tv stories share direct about developer legal web oauth instagram sharer",
    lower=True,
)
_tiktok = _named("https://www.tiktok.com/", "", at=True, lower=True)


def _bluesky(steps: list[str], query: str) -> str:
    if len(steps) >= 2 and steps[0] == "profile" and _NAME.fullmatch(steps[1]):
        return f"https://bsky.app/profile/{steps[1].lower()}"
    return ""


def _telegram(steps: list[str], query: str) -> str:
    if steps[:1] == ["s"]:
        steps = steps[1:]
    return _telegram_named(steps[:1], query) if steps and re.fullmatch(r"[A-Za-z]\w{3,31}", steps[0]) else ""


_telegram_named = _named("https://t.me/", "share joinchat addstickers iv proxy socks login contact")
_discord = _named("https://discord.gg/", "")


def _discord_long(steps: list[str], query: str) -> str:
    return _discord(steps[1:2], query) if steps[:1] == ["invite"] else ""


_MASTODONS = (
    "mastodon.social mastodon.online mstdn.social mas.to fosstodon.org hachyderm.io chaos.social techhub.social "
    "infosec.exchange mastodon.world universeodon.com mstdn.jp pawoo.net mastodon.nl mastodon.green norden.social "
    "troet.cafe social.tchncs.de ruhr.social muenchen.social indieweb.social sigmoid.social piaille.fr mamot.fr"
)


_GITHUB_RESERVED = (
    "features pricing about login join explore topics orgs search marketplace sponsors settings security site "
    "contact blog enterprise collections trending readme apps notifications gist"
)


def _ok(steps: list[str], query: str) -> str:
    if len(steps) >= 2 and steps[0] in ("group", "profile") and steps[1].isdigit():
        return f"https://ok.ru/{steps[0]}/{steps[1]}"
    return _named("https://ok.ru/", "dk offer video music games group profile")(steps, query)


_vimeo_named = _named(
    "https://vimeo.com/", "channels groups watch upload log_in join features categories ondemand album showcase event"
)


def _vimeo(steps: list[str], query: str) -> str:
    return "" if steps and steps[0].isdigit() else _vimeo_named(steps, query)


def _kununu(steps: list[str], query: str) -> str:
    if len(steps) >= 2 and steps[0] in ("de", "at", "ch") and _NAME.fullmatch(steps[1]):
        return f"https://www.kununu.com/{steps[0]}/{steps[1]}"
    return ""


def _networks() -> dict[str, Network]:
    """By host, without www."""
    found: dict[str, Network] = {}

    def add(hosts: str, key: str, spell: Spell, domain: str = "") -> None:
        for host in hosts.split():
            found[host] = Network(key, domain or hosts.split()[0], spell)

    add("facebook.com fb.com fb.me facebook.de", "facebook", _facebook)
    add("linkedin.com", "linkedin", _linkedin)
    add("twitter.com x.com", "twitter", _twitter)
    found["x.com"] = Network("twitter", "x.com", _twitter)
    add("instagram.com instagr.am", "instagram", _instagram)
    add("youtube.com youtube.de", "youtube", _youtube)
    add("tiktok.com", "tiktok", _tiktok)
    endings = "com de fr es it co.uk at ch ca jp pt se nz ie dk nl ph cl co.kr com.au com.mx ru pl"
    add(" ".join(f"pinterest.{ending}" for ending in endings.split()), "pinterest", _pinterest)
    add("github.com", "", _named("https://github.com/", _GITHUB_RESERVED))
    add("gitlab.com", "", _named("https://gitlab.com/", "users explore help -"))
    add("xing.com", "", _below("https://www.xing.com/", "pages companies profile company"))
    add(
        "vk.com vkontakte.ru",
        "",
        _named("https://vk.com/", "share share.php away.php widget feed login search video app"),
    )
    add("ok.ru", "", _ok)
    add("threads.net threads.com", "", _named("https://www.threads.net/", "", at=True, lower=True))
    add("t.me telegram.me", "", _telegram)
    add("bsky.app", "", _bluesky)
    add("vimeo.com", "", _vimeo)
    add("twitch.tv", "", _named("https://www.twitch.tv/", "directory videos p settings downloads jobs", lower=True))
    add("medium.com", "", _named("https://medium.com/", "", at=True))
    add("behance.net", "", _named("https://www.behance.net/", "gallery search live joblist"))
    add("dribbble.com", "", _named("https://dribbble.com/", "shots tags jobs search designers signup session"))
    add("discord.gg", "", _discord)
    add("discord.com discordapp.com", "", _discord_long)
    add("reddit.com", "", _below("https://www.reddit.com/", "r user u"))
    add(
        "tumblr.com",
        "",
        _named("https://www.tumblr.com/", "share widgets dashboard login tagged search explore register"),
    )
    add("flickr.com", "", _below("https://www.flickr.com/", "photos people groups"))
    add(
        "soundcloud.com", "", _named("https://soundcloud.com/", "discover search stream pages upload charts you signin")
    )
    add("open.spotify.com", "", _below("https://open.spotify.com/", "artist user show"))
    add("yelp.com yelp.de yelp.co.uk yelp.fr yelp.it yelp.es yelp.ca", "", _below("https://www.yelp.com/", "biz"))
    add("trustpilot.com", "", _below("https://www.trustpilot.com/", "review"))
    add("kununu.com", "", _kununu)
    add("crunchbase.com", "", _below("https://www.crunchbase.com/", "organization company"))
    add("patreon.com", "", _named("https://www.patreon.com/", "posts login join explore c user"))
    add("snapchat.com", "", _below("https://www.snapchat.com/", "add"))
    add("weibo.com", "", _named("https://weibo.com/", "login share"))
    add("linktr.ee", "", _named("https://linktr.ee/", "", lower=True))
    for host in _MASTODONS.split():
        add(host, "", _named(f"https://{host}/", "", at=True, alone=True))
    return found


NETWORKS = _networks()
