"""Plurals, compounds and spellings of the words in the tables of trades, one small set of rules per language.

A table writes a form in one of three ways, and everything else is a plain form:
- `Zahnarzt/Zahnärzte`: a singular and its other forms.
- `Möbel~g`: a stem and the letter of a set of endings.
- `chinesisch* Restaurant`: a German adjective that takes any ending.

The rules are for precision: a rule that would often be wrong is left out, and the table lists the form instead."""

import re
from collections.abc import Callable, Iterator

# Letter -> what follows or surrounds the stem, whose place the braces mark. The first one serves as a display name.
_TEMPLATES: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "c": ("{} company", "{} firm", "{} business", "{} contractor", "{} service", "{} services"),
        "s": ("{} store", "{} shop", "{} retailer", "online {} store", "online {} shop", "{} webshop"),
        "a": ("{} agency", "{} company", "{} firm"),
        "m": ("{} manufacturer", "{} maker", "{} producer", "{} factory", "{} manufacturing company"),
        "p": ("{} practice", "{} clinic", "{} office", "{} center"),
        "v": ("{} company", "{} provider", "{} vendor", "{} firm", "{} business"),
        "l": ("{} lawyer", "{} attorney", "{} law firm", "{} solicitor"),
    },
    "de": {
        "i": ("{}", "{}in", "{}innen"),
        "b": ("{}", "{}betrieb", "{}firma", "{}unternehmen", "{}meister", "{}meisterbetrieb", "{}fachbetrieb"),
        "g": (
            "{}geschäft",
            "{}laden",
            "{}shop",
            "{}händler",
            "{}handel",
            "{}handlung",
            "{}fachgeschäft",
            "{}fachhandel",
            "{}onlineshop",
            "{}-Onlinehändler",
            "Onlineshop für {}",
            "Shop für {}",
            "Geschäft für {}",
        ),
        "a": ("{}agentur", "Agentur für {}"),
        "m": ("{}hersteller", "{}produzent", "{}fabrik", "{}fabrikant", "{}manufaktur", "Hersteller von {}"),
        "p": ("{}praxis",),
        "u": ("{}unternehmen", "{}firma", "{}anbieter", "{}dienstleister", "{}betrieb"),
    },
    "fr": {
        "s": ("magasin de {}", "boutique de {}", "boutique en ligne de {}", "vente de {}", "magasin en ligne de {}"),
        "m": ("fabricant de {}", "fabrication de {}", "producteur de {}", "usine de {}"),
    },
    "es": {
        "s": ("tienda de {}", "tienda online de {}", "venta de {}", "tienda en línea de {}"),
        "m": ("fabricante de {}", "fábrica de {}", "fabricación de {}", "productor de {}"),
    },
    "pt": {
        "s": ("loja de {}", "loja online de {}", "venda de {}", "loja virtual de {}"),
        "m": ("fabricante de {}", "fábrica de {}", "fabrico de {}", "fabricação de {}", "indústria de {}"),
    },
    "it": {
        "s": ("negozio di {}", "negozio online di {}", "vendita {}", "vendita di {}"),
        "m": ("produttore di {}", "produzione {}", "produzione di {}", "fabbrica di {}"),
    },
    "nl": {
        "s": ("{}winkel", "{}zaak", "{}shop", "{}speciaalzaak", "{}webshop", "online {}winkel"),
        "m": ("{}fabrikant", "{}producent", "{}fabriek"),
    },
    "pl": {},
}
# Both spellings of English, by the part that differs.
_BRITISH = (
    ("center", "centre"), ("theater", "theatre"), ("tire", "tyre"), ("jewelry", "jewellery"), ("mold", "mould"),
    ("pediatric", "paediatric"), ("orthopedi", "orthopaedi"), ("gynecolog", "gynaecolog"), ("counsel", "counsell"),
    ("fulfillment", "fulfilment"), ("labor ", "labour "), ("aluminum", "aluminium"), ("organization", "organisation"),
    ("color", "colour"), ("fiber", "fibre"), ("jeweler", "jeweller"), ("remodeling", "remodelling"),
    ("optimization", "optimisation"), ("defense", "defence"),
)  # fmt: skip
_UMLAUTS = {ord(umlaut): pair for umlaut, pair in zip("äöüÄÖÜ", ("ae", "oe", "ue", "Ae", "Oe", "Ue"), strict=True)}
# After one of these words nothing is put into the plural: "cabinet d'avocats".
_PREPOSITION = re.compile(
    r"\b(?:de|du|des|d'|à|a|en|pour|sur|e|di|da|d|per|do|da|dos|das|para|of|for|y|et|con|com|al)(?=['\s])"
)
_GERMAN_PLURALS = (
    ("arzt", "ärzte"), ("anwalt", "anwälte"), ("geschäft", "geschäfte"), ("laden", "läden"), ("praxis", "praxen"),
    ("firma", "firmen"), ("haus", "häuser"), ("werkstatt", "werkstätten"), ("zentrum", "zentren"),
    ("studio", "studios"),
    ("salon", "salons"), ("markt", "märkte"), ("hof", "höfe"), ("büro", "büros"), ("shop", "shops"), ("club", "clubs"),
    ("hotel", "hotels"), ("restaurant", "restaurants"), ("bar", "bars"), ("café", "cafés"), ("park", "parks"),
    ("betrieb", "betriebe"), ("dienst", "dienste"), ("verein", "vereine"), ("verband", "verbände"), ("heim", "heime"),
    ("institut", "institute"), ("labor", "labore"), ("verlag", "verlage"), ("museum", "museen"), ("platz", "plätze"),
    ("amt", "ämter"), ("bank", "banken"), ("fabrik", "fabriken"), ("klinik", "kliniken"), ("agentur", "agenturen"),
    ("bad", "bäder"), ("saal", "säle"), ("werk", "werke"), ("lager", "lager"), ("center", "center"),
    ("store", "stores"), ("gesellschaft", "gesellschaften"), ("institution", "institutionen"), ("schule", "schulen"),
    ("konzern", "konzerne"), ("kreis", "kreise"), ("hospital", "hospitäler"), ("chirurg", "chirurgen"),
    ("brauhaus", "brauhäuser"), ("mann", "männer"), ("bund", "bünde"), ("kanal", "kanäle"), ("wehr", "wehren"),
    ("zimmer", "zimmer"), ("service", "services"), ("startup", "startups"), ("sender", "sender"), ("lokal", "lokale"),
    ("bistro", "bistros"), ("kino", "kinos"), ("truck", "trucks"), ("magazin", "magazine"), ("team", "teams"),
)  # fmt: skip
_GERMAN_ENDINGS = (
    ("ei", "eien"), ("ung", "ungen"), ("heit", "heiten"), ("keit", "keiten"), ("ist", "isten"), ("loge", "logen"),
    ("ant", "anten"), ("ent", "enten"), ("eut", "euten"), ("ekt", "ekten"), ("nom", "nomen"), ("eur", "eure"),
    ("iker", "iker"), ("er", "er"), ("el", "el"), ("in", "innen"), ("e", "en"), ("or", "oren"), ("ion", "ionen"),
    ("tät", "täten"), ("är", "äre"), ("eon", "eons"), ("schaft", "schaften"), ("ik", "iken"), ("ur", "uren"),
)  # fmt: skip


def expand(language: str, written: str) -> tuple[list[str], list[str]]:
    """The forms an entry of a table names itself, and the ones that follow from it by rule."""
    stem, mark, letter = written.partition("~")
    if mark:
        named = [_elide(language, pattern.format(stem)) for pattern in _TEMPLATES[language][letter]]
        return [], [other for form in named for other in (form, *plurals(language, form))]
    if "*" in written:
        return [], list(_adjectives(written))
    singular, *others = [part.strip() for part in written.split("/")]
    generated = list(plurals(language, singular)) if not others else []
    for other in others:
        generated += _german_dative(other) if language == "de" else []
    return [singular, *others], generated


def display(language: str, written: str) -> str:
    """The form in which a trade is shown, from the first entry of its row."""
    stem, mark, letter = written.partition("~")
    shown = _elide(language, _TEMPLATES[language][letter][0].format(stem)) if mark else written.split("/")[0].strip()
    return shown[0].upper() + shown[1:]


def variants(language: str, form: str) -> Iterator[str]:
    """Other spellings of one form: British English, German without umlauts."""
    if language == "en":
        for american, british in _BRITISH:
            if american in form and british not in form:
                yield form.replace(american, british)
            elif british in form:
                yield form.replace(british, american)
    elif language == "de" and (plain := without_umlauts(form)) != form:
        yield plain


def without_umlauts(form: str) -> str:
    """How a word is typed where there are no umlauts: "Aerzte"."""
    return form.translate(_UMLAUTS)


def plurals(language: str, form: str) -> Iterator[str]:
    """The plural of a noun; in German its dative, and in Polish its genitive, as well."""
    yield from _PLURALS[language](form)


def _elide(language: str, form: str) -> str:
    if language == "fr":
        return re.sub(r"\bde (?=[aeiouyhéèêàâîôûœ])", "d'", form, flags=re.IGNORECASE)
    return form


def _adjectives(written: str) -> Iterator[str]:
    stem, _, noun = written.partition("*")
    nouns = [noun.strip(), *_german(noun.strip())]
    for ending in ("e", "es", "er", "en"):
        for one in nouns:
            yield f"{stem}{ending} {one}"


def _english(form: str) -> Iterator[str]:
    if form.endswith(("s", "ing", "ics", "care", "work")):
        return
    if form.endswith("man"):
        yield form[:-3] + "men"
    elif re.search(r"[^aeiou]y$", form):
        yield form[:-1] + "ies"
    elif form.endswith(("ch", "sh", "x", "z")):
        yield form + "es"
    else:
        yield form + "s"


def _german(form: str) -> Iterator[str]:
    lower = form.lower()
    if " " in form and form.split()[-2].lower() in ("für", "von", "der", "und", "am", "mit"):
        head, _, rest = form.partition(" ")
        for plural in _german(head):
            yield f"{plural} {rest}"
        return
    for ending, plural in (*_GERMAN_PLURALS, *_GERMAN_ENDINGS):
        if lower.endswith(ending):
            if plural:
                changed = form[: len(form) - len(ending)] + plural
                yield from (changed, *_german_dative(changed))
            return


def _german_dative(plural: str) -> list[str]:
    return [] if plural.endswith(("n", "s")) else [plural + "n"]


def _words_of_head(form: str, plural: Callable[[str], str]) -> Iterator[str]:
    """Every word up to the first preposition in the plural."""
    found = _PREPOSITION.search(form, 1)
    head, rest = (form[: found.start()], form[found.start() :]) if found else (form, "")
    words = head.split()
    if words:
        changed = " ".join([plural(word) for word in words]) + (" " + rest if rest else "")
        if changed != form:
            yield changed
        if len(words) == 2 and not rest:
            yield f"{plural(words[0])} {words[1]}"


def _french(form: str) -> Iterator[str]:
    def plural(word: str) -> str:
        if word.endswith(("s", "x", "z")):
            return word
        if word.endswith(("eau", "eu")):
            return word + "x"
        return word[:-2] + "aux" if word.endswith("al") else word + "s"

    return _words_of_head(form, plural)


def _spanish(form: str) -> Iterator[str]:
    def plural(word: str) -> str:
        if word.endswith("z"):
            return word[:-1] + "ces"
        if word.endswith("s") or word in ("online", "web"):
            return word
        if word.endswith(("ón", "án", "ín")):
            return word[:-2] + {"ó": "o", "á": "a", "í": "i"}[word[-2]] + "nes"
        return word + ("s" if word[-1] in "aeiouáéó" else "es")

    return _words_of_head(form, plural)


def _portuguese(form: str) -> Iterator[str]:
    def plural(word: str) -> str:
        if word.endswith(("s", "x")) or word in ("online", "web"):
            return word
        for ending, other in (("ão", "ões"), ("al", "ais"), ("el", "eis"), ("ol", "ois"), ("il", "is"), ("m", "ns")):
            if word.endswith(ending):
                return word[: -len(ending)] + other
        return word + ("es" if word[-1] in "rzn" else "s")

    return _words_of_head(form, plural)


def _italian(form: str) -> Iterator[str]:
    def plural(word: str) -> str:
        if word in ("online", "web") or not word.endswith(("o", "a", "e")):
            return word
        for ending, other in (
            ("ista", "isti"),
            ("ica", "iche"),
            ("ca", "che"),
            ("ga", "ghe"),
            ("cia", "cie"),
            ("io", "i"),
        ):
            if word.endswith(ending):
                return word[: -len(ending)] + other
        for ending, other in (("go", "ghi"), ("ico", "ici"), ("co", "chi"), ("o", "i"), ("a", "e"), ("e", "i")):
            if word.endswith(ending):
                return word[: -len(ending)] + other
        return word

    return _words_of_head(form, plural)


def _dutch(form: str) -> Iterator[str]:
    for ending, plural in (
        ("zaak", "zaken"), ("bedrijf", "bedrijven"), ("kantoor", "kantoren"), ("huis", "huizen"), ("school", "scholen"),
        ("praktijk", "praktijken"), ("makelaar", "makelaars"), ("arts", "artsen"), ("bureau", "bureaus"),
        ("winkel", "winkels"), ("fabriek", "fabrieken"), ("dienst", "diensten"), ("kliniek", "klinieken"),
        ("centrum", "centra"), ("theek", "theken"), ("loog", "logen"), ("ist", "isten"), ("eut", "euten"),
        ("ent", "enten"), ("ant", "anten"), ("ect", "ecten"), ("ij", "ijen"), ("ing", "ingen"), ("aal", "alen"),
        ("ster", "sters"), ("eur", "eurs"), ("ier", "iers"), ("er", "ers"), ("el", "els"), ("aar", "aars"),
        ("or", "ors"), ("man", "mannen"), ("ie", "ies"), ("e", "es"), ("club", "clubs"), ("shop", "shops"),
        ("studio", "studio's"), ("salon", "salons"), ("restaurant", "restaurants"), ("hotel", "hotels"),
        ("bar", "bars"), ("coach", "coaches"), ("markt", "markten"), ("station", "stations"),
        ("instituut", "instituten"), ("instelling", "instellingen"), ("organisatie", "organisaties"),
        ("vereniging", "verenigingen"),
        ("apotheek", "apotheken"), ("kok", "koks"), ("provider", "providers"), ("startup", "startups"), ("um", "ums"),
    ):  # fmt: skip
        if form.endswith(ending):
            yield form[: len(form) - len(ending)] + plural
            return


# Nominative and genitive plural of Polish nouns by ending, the longest first.
_POLISH = (
    ("szkoła", "szkoły", "szkół"), ("biuro", "biura", "biur"), ("centrum", "centra", "centrów"),
    ("studio", "studia", "studiów"), ("kino", "kina", "kin"), ("atelier", "atelier", "atelier"),
    ("iarnia", "iarnie", "iarni"), ("wnia", "wnie", "wni"), ("nia", "nie", "ni"), ("cja", "cje", "cji"),
    ("ria", "rie", "rii"), ("ologia", "ologie", "ologii"), ("yka", "yki", "yk"), ("ika", "iki", "ik"),
    ("teka", "teki", "tek"), ("cka", "ckie", "ckich"), ("ka", "ki", "ek"), ("log", "lodzy", "logów"),
    ("ysta", "yści", "ystów"), ("ista", "iści", "istów"), ("euta", "euci", "eutów"), ("iatra", "iatrzy", "iatrów"),
    ("eda", "edzi", "edów"), ("arz", "arze", "arzy"), ("erz", "erze", "erzy"), ("ysz", "ysze", "yszy"),
    ("ent", "enci", "entów"), ("ant", "anci", "antów"), ("ekt", "ekci", "ektów"), ("kat", "kaci", "katów"),
    ("nik", "nicy", "ników"), ("ulik", "ulicy", "ulików"), ("tyk", "tycy", "tyków"), ("ryk", "rycy", "ryków"),
    ("ciel", "ciele", "cieli"), ("orca", "orcy", "orców"), ("wca", "wcy", "wców"), ("dca", "dcy", "dców"),
    ("ator", "atorzy", "atorów"), ("utor", "utorzy", "utorów"), ("ktor", "ktorzy", "ktorów"),
    ("jer", "jerzy", "jerów"), ("icer", "icerzy", "icerów"), ("ner", "nerzy", "nerów"), ("iler", "ilerzy", "ilerów"),
    ("ber", "berzy", "berów"),
    ("uter", "uterzy", "uterów"), ("ełek", "ełki", "ełków"), ("ek", "ki", "ków"), ("net", "nety", "netów"),
    ("sztat", "sztaty", "sztatów"), ("ad", "ady", "adów"), ("ep", "epy", "epów"), ("on", "ony", "onów"),
    ("tel", "tele", "teli"), ("ub", "uby", "ubów"), ("dom", "domy", "domów"), ("dz", "dze", "dzy"),
    ("stwo", "stwa", "stw"), ("um", "a", "ów"), ("ma", "my", "m"), ("ta", "ty", "t"), ("ba", "by", "b"),
    ("da", "dy", "d"), ("ka", "ki", "k"), ("la", "le", "li"), ("na", "ny", "n"), ("pa", "py", "p"), ("wa", "wy", "w"),
    ("ła", "ły", "ł"), ("ra", "ry", "r"), ("eń", "nie", "ni"), ("ch", "chy", "chów"), ("ar", "ary", "arów"),
    ("et", "ety", "etów"), ("at", "aty", "atów"), ("yk", "yki", "yków"), ("it", "ity", "itów"), ("in", "iny", "inów"),
)  # fmt: skip
_POLISH_ADJECTIVE = re.compile(r"(?:n|w|czn|cz|sk|ck|zk|dzk|yjn|lan|ł)(?:y|i|a|e)$")


def _polish(form: str) -> Iterator[str]:
    head, *rest = form.split()
    for ending, nominative, genitive in _POLISH:
        if head.lower().endswith(ending):
            stem = head[: len(head) - len(ending)]
            yield " ".join([stem + nominative, *[_adjective(word, "e") for word in rest]])
            yield " ".join([stem + genitive, *[_adjective(word, "ych") for word in rest]])
            return


def _adjective(word: str, ending: str) -> str:
    if not _POLISH_ADJECTIVE.search(word):
        return word
    stem = word[:-1] if not word.endswith("ie") else word[:-2]
    if stem.endswith(("k", "g")):
        return stem + {"e": "ie", "ych": "ich"}[ending]
    return stem + ending


_PLURALS: dict[str, Callable[[str], Iterator[str]]] = {
    "en": _english,
    "de": _german,
    "fr": _french,
    "es": _spanish,
    "pt": _portuguese,
    "it": _italian,
    "nl": _dutch,
    "pl": _polish,
}
