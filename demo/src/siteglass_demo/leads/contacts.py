"""How made-up businesses can be reached: addresses, phones and profiles."""

from __future__ import annotations

from random import Random

from siteglass_demo.leads.chance import Weighted
from siteglass_demo.leads.names import ascii_word

_ROLES = {
    "": "info:40 contact:20 hello:9 sales:9 support:7 office:6 admin:4 enquiries:3 team:2 marketing:2 jobs:3 press:2",
    "de": "info:56 kontakt:18 office:6 service:6 bewerbung:4 vertrieb:3 support:4",
    "fr": "contact:62 info:16 accueil:6 commercial:4 recrutement:3",
    "es": "info:50 contacto:28 administracion:6 ventas:7 comercial:4",
    "pt": "contato:46 comercial:14 atendimento:12 vendas:8 financeiro:4 contacto:6 geral:5",
    "it": "info:72 amministrazione:6 commerciale:5 segreteria:5",
    "nl": "info:78 contact:8 administratie:4 verkoop:3",
}
_FIRST_NAMES = {
    "english": "James Emma Oliver Sarah Daniel Laura Michael Grace Thomas Hannah Robert Alice David Megan Peter Claire",
    "german": "Anna Lukas Katrin Stefan Julia Jonas Sabine Markus Lena Tobias Petra Felix Miriam Jan Ute Andreas",
    "french": "Camille Julien Sophie Antoine Claire Luc Élise Mathieu Manon Pierre Chloé Hugo Nathalie Rémi",
    "spanish": "María Carlos Lucía Javier Ana Diego Carmen Pablo Elena Andrés Sofía Luis Paula Miguel",
    "italian": "Giulia Marco Chiara Luca Francesca Matteo Elisa Andrea Sara Davide Paola Stefano",
    "japanese": "Haruto Yui Kenji Sakura Takeshi Aiko Daichi Emi Hiroshi Naomi Satoshi Yuka",
    "chinese": "Wei Li Ming Fang Jing Lei Xiu Hao Yan Tao Ying Jun",
    "korean": "Minjun Seoyeon Jiho Hana Junseo Yuna Dohyun Sumin Jiwoo Eunji",
    "indian": "Arjun Priya Rahul Anita Vikram Neha Sanjay Kavita Amit Divya Rohan Meera",
    "slavic": "Anna Piotr Katarzyna Marek Olga Ivan Elena Pavel Natalia Tomasz Jana Dmitri",
    "nordic": "Erik Astrid Lars Ingrid Anders Sofia Mikael Karin Jonas Maja Henrik Elin",
    "dutch": "Daan Sanne Bram Lotte Jeroen Femke Pieter Anouk Ruben Marieke Thijs Iris",
}
_FREE_MAILERS = Weighted.parse("gmail.com:74 outlook.com:10 yahoo.com:8 hotmail.com:5 icloud.com:3")
_GERMAN_MAILERS = Weighted.parse("gmail.com:38 gmx.de:26 web.de:22 t-online.de:14")

_PROFILE = {
    "facebook": "https://www.facebook.com/",
    "linkedin": "https://www.linkedin.com/company/",
    "twitter": "https://x.com/",
    "instagram": "https://www.instagram.com/",
    "youtube": "https://www.youtube.com/@",
    "tiktok": "https://www.tiktok.com/@",
    "pinterest": "https://www.pinterest.com/",
}
# Shares in percent in the order of _PROFILE.
_USUAL = (52, 24, 22, 38, 17, 4, 4)
_SHARES = {
    "SaaS": (40, 78, 62, 26, 38, 5, 1),
    "Agency": (58, 66, 34, 62, 24, 9, 6),
    "Ecommerce": (68, 10, 22, 76, 24, 22, 24),
    "Enterprise": (52, 86, 58, 44, 60, 8, 3),
    "Government": (58, 16, 38, 22, 30, 1, 0.5),
    "Manufacturer": (30, 44, 12, 16, 26, 1, 1),
    "Hospitality": (72, 8, 16, 72, 8, 7, 4),
    "Consultant": (32, 70, 26, 22, 16, 2, 1),
    "Publisher": (70, 22, 62, 54, 36, 14, 18),
    "Gaming": (34, 14, 66, 36, 58, 24, 1),
    "Firm": (40, 48, 14, 18, 8, 1, 1),
}
_OTHERS: dict[str, tuple[tuple[str, float], ...]] = {
    "SaaS": (("https://github.com/", 0.34), ("https://medium.com/@", 0.09)),
    "Mobile App": (("https://github.com/", 0.12), ("https://medium.com/@", 0.06)),
    "Gaming": (("https://discord.gg/", 0.44), ("https://www.twitch.tv/", 0.2)),
    "Agency": (("https://dribbble.com/", 0.14), ("https://www.behance.net/", 0.16)),
    "Local Business": (("https://www.yelp.com/biz/", 0.12),),
    "Hospitality": (("https://www.yelp.com/biz/", 0.14),),
    "Firm": (("https://www.xing.com/pages/", 0.02),),
}

_roles = {language: Weighted.parse(text) for language, text in _ROLES.items()}
_first_names = {culture: names.split() for culture, names in _FIRST_NAMES.items()}


def emails(
    rng: Random, domain: str, language: str, culture: str, first: str, second: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Addresses, and those of them that are not role addresses. More than a third of the sites have none."""
    random = rng.random
    if random() < 0.35:
        return (), ()
    family = ascii_word(first)
    if random() < 0.07:
        mailer = _GERMAN_MAILERS if language == "de" else _FREE_MAILERS
        own = f"{family}.{ascii_word(second)}.{int(random() * 90) + 10}@{mailer.pick(random())}"
        return (own,), (own,)
    role, personal = [], []
    if random() < 0.84:
        role.append(f"{_roles.get(language, _roles['']).pick(random())}@{domain}")
        if random() < 0.3:
            role.append(f"{_roles[''].pick(random())}@{domain}")
    if not role or random() < 0.4:
        for _ in range(1 + int(random() ** 3 * 4)):
            name = ascii_word(rng.choice(_first_names[culture]))
            last = family if random() < 0.6 else ascii_word(second)
            shape = random()
            local = f"{name}.{last}" if shape < 0.5 else name if shape < 0.8 else f"{name[0]}.{last}"
            personal.append(f"{local}@{domain}")
    personal = list(dict.fromkeys(personal))
    return tuple(dict.fromkeys(role + personal)), tuple(personal)


def phones(rng: Random, template: str) -> tuple[str, ...]:
    """Numbers in the country's form; two sites in five show none."""
    if not template or rng.random() < 0.38:
        return ()
    count = 1 if rng.random() < 0.75 else 2
    return tuple(dict.fromkeys(_fill(template, int(rng.random() * 10**6)) for _ in range(count)))


def _fill(template: str, number: int) -> str:
    pieces = template.split("#")
    digits = f"{number:06d}"
    return "".join(piece + digit for piece, digit in zip(pieces[:-1], digits, strict=False)) + pieces[-1]


def profiles(rng: Random, kind: str, handle: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Profiles on the seven networks, and on others. A site without any of the seven often has no profile at all."""
    random = rng.random
    if random() < 0.18:
        return {}, ()
    shares = _SHARES.get(kind, _USUAL)
    links = {
        network: prefix + handle
        for (network, prefix), share in zip(_PROFILE.items(), shares, strict=True)
        if random() * 82 < share
    }
    others = [prefix + handle for prefix, share in _OTHERS.get(kind, ()) if random() < share]
    if random() < 0.05:
        others.append(f"https://www.threads.net/@{handle}")
    return links, tuple(others)
