"""Words by which a business refers to itself: "our office in Paris", "meine Schwester", "当院".

An address on another domain belongs to the business if the sentence around it says so. All texts are folded.
"""

from __future__ import annotations

import re

MAX_CHARS_BETWEEN = 120

# Possessives of the first person, with nouns for what people write to. One word may come between them, in English two.
# Only nouns for parts of the business and for its people: "our printer" and "our agent" are others.
_OURS = {
    r"our|my": r"(?:head |branch |booking |sales |home |field )?office|company|compan(?:y|ies)|firm|brand|label|shop|"
    r"store|web ?site|site|branch|showroom|warehouse|factory|works|plant|workshop|desk|team|colleagues?|mailbox|inbox|"
    r"holding|subsidiary|parent|sister|brother|wife|husband|son|daughter|founder|owner|trading name",
    r"unsere?[nrsm]?|meine?[nrsm]?": r"\w*buro|niederlassung|filiale|firma|marke|eigenmarke|laden|shop|seite|werk|"
    r"lager|werkstatt|team|kolleg\w+|postfach|mutterhaus|muttergesellschaft|tochter\w*|schwester\w*|bruder|frau|mann|sohn|"
    r"gesellschaft|unternehmen|betrieb|standort|ausstellung|zentrale|gruppe",
    r"notre|nos|ma|mon": r"bureaux?|agence|siege|societe|enseigne|marque|boutique|site|atelier|usine|entrepot|equipe|"
    r"collegues?|collaborat\w+|filiale|groupe|maison mere|soeur|frere|femme|mari|fils|fille|magasin|antenne",
    r"nuestr[oa]s?|mi": r"oficinas?|empresa|firma|marca|tienda|pagina|sitio|web|taller|fabrica|almacen|equipo|colegas?|"
    r"companer[oa]s?|filial|grupo|matriz|hermana?|hermano|esposa|marido|hij[oa]|sucursal|sede|local",
    r"nostr[aoei]|mi[ao]": r"ufficio|sede|azienda|ditta|marchio|negozio|sito|officina|stabilimento|magazzino|squadra|"
    r"collega|colleghi|filiale|gruppo|sorella|fratello|moglie|marito|figli[oa]|punto vendita",
    r"noss[ao]s?|minha|meu": r"escritorio|empresa|marca|loja|site|oficina|fabrica|armazem|equipa|equipe|colegas?|"
    r"filial|grupo|irma|irmao|esposa|marido|filh[oa]|sede|casa",
    r"ons|onze|mijn": r"kantoor|bedrijf|merk|winkel|site|webshop|werkplaats|fabriek|magazijn|team|collega'?s?|"
    r"vestiging|filiaal|zuster\w*|zus|broer|vrouw|man|zoon|dochter\w*|moederbedrijf|groep",
    r"nasz[aey]?|naszego|moj[ae]?": r"biuro|firma|marka|sklep|strona|warsztat|fabryka|magazyn|zespol|kole\w+|oddzial|"
    r"filia|siostra|brat|zona|maz|syn|corka|spolka|grupa",
    r"nase|nas|moje|muj": r"kancelar|pobocka|firma|spolecnost|spolocnost|znacka|obchod|web|dilna|sklad|tym|koleg\w+|"
    r"provozovna|sestra|bratr|manzel\w*|syn|dcera",
    r"var|vart|vara|vares?|min|mitt|vor|vores|mit": r"kontor|foretag|bolag|firma|varumarke|maerke|butik|butikk|sida|"
    r"verkstad|vaerksted|verksted|fabrik|fabrikk|lager|team|kolleg\w+|filial|avdeling|afdeling|syster\w*|soster\w*|"
    r"bror|moderbolag|koncern|konsern",
    r"наш[аеи]?|нашего|нашей|мо[йя]": r"офис\w*|компани\w+|фирм\w+|бренд\w*|магазин\w*|сайт\w*|филиал\w*|цех\w*|"
    r"склад\w*|команд\w+|коллег\w+|завод\w*|салон\w*|сестр\w+|брат\w*|жен\w+|муж\w*",
}
# Of languages that put the possessive after the noun, or at its end.
_OURS_AFTER = (
    r"(?:biroul|firma|magazinul|sediul|sucursala|echipa|colega|colegul|sora|fratele|marca)(?: \w+)? "
    r"(?:nostru|noastra|mea|meu)",
    r"(?:γραφειο|εταιρεια|καταστημα|υποκαταστημα|ομαδα|αδελφ\w*|συναδελφ\w*|εργοστασιο)(?: \w+)? (?:μασ|μου)",
    r"irodank|cegunk|markank|uzletunk|boltunk|telephelyunk|gyarunk|csapatunk|kollegank|testvercegunk|anyacegunk",
    r"toimistomme|yrityksemme|brandimme|kauppamme|tehtaamme|sisaryhtiomme|emoyhtiomme|kollegamme|tiimimme",
    r"ofisimiz|subemiz|sirketimiz|markamiz|magazamiz|fabrikamiz|depomuz|atolyemiz|ekibimiz|kardes firmamiz",
)
# Who owns whom, and what a business is called elsewhere.
_RELATIONS = (
    r"owned by|belongs to us|also trades as|trading as|also known as|same owner|we also run|we also own|run by us|"
    r"is ours|sister (?:company|firm|site|shop|hotel|business)|parent company|head office|"
    r"group (?:office|headquarters)|"
    r"gehort (?:auch )?(?:zu uns|uns)|heissen wir|tochter(?:firma|gesellschaft)|mutter(?:firma|gesellschaft)|"
    r"schwester(?:firma|gesellschaft)|stammhaus|hauptsitz|konzernzentrale|meme proprietaire|maison mere|siege social|"
    r"mismos? duenos?|empresa matriz|casa matriz|stesso proprietario|casa madre|mesmo dono|"
    r"zelfde eigenaar|heten wij|moederbedrijf|hoofdkantoor|ten sam wlasciciel|spolka matka|stejny majitel|"
    r"materska spolecnost|ags av|agt av|eies av|ejes af|moderbolag|moderselskab|morselskap|samma agare|samme eier|"
    r"samme ejer|huvudkontor|hovedkontor|paakonttori|emoyhtio|anyaceg|sediul central|acelasi proprietar|"
    r"головной офис|головний офіс|genel mudurluk|merkez ofis|ana sirket|μητρικη"
)
_BELONGS = (
    r"part of|belongs to|gehort zu\w?|teil der|appartient a\w*|fait partie d\w+|pertenece al?|pertence a\w?|"
    r"(?:fa )?parte d\w+|maakt deel uit van|onderdeel van|nalezy do|patri do|ingar i|(?:en )?del a[fv]|принадлежит"
)
_GROUPS = r"group|gruppe\w?|groupe|grupo|gruppo|groep|grup[ay]|koncern\w*|konsern\w*|holding\w*|skupin\w*|групп\w*"
_PERSONS = "当院|当社|弊社|当店|当館|当園|当事務所|我司|我们公司|本公司|本店|당사|저희|본사|โรงงานของเรา|บริษัทของเรา"


def _possessive(ours: str, nouns: str) -> str:
    words = 2 if ours.startswith("our") else 1
    return rf"(?:{ours})(?: [^\W\d][\w'-]*){{0,{words}}}? (?:{nouns})"


_OWN = re.compile(
    rf"\b(?:{'|'.join([*(_possessive(*one) for one in _OURS.items()), *_OURS_AFTER])})\b|\b(?:{_RELATIONS})|"
    rf"\b(?:{_BELONGS}) (?:[\w'-]+ ){{0,3}}[\w'-]*(?:{_GROUPS})\b|"
    # The local part of an address may come between them and its @.
    rf"(?:{_PERSONS})(?=\S{{0,12}}\s?[\w.+-]{{0,40}}\s?\Z)"
)
# "not part of our office", "an independent company".
_DENIED = re.compile(
    r"\b(?:not|kein\w*|nicht|geen|niet|ne|no|non|nao|nie|inte|ikke|ei|nem|nu|не|degil)\b[^.:;]{0,25}\Z"
)
_INDEPENDENT = re.compile(
    r"\b(?:independ[ae]nt|independient|indipendent|unabhangig|onafhankelijk|niezalezn|nezavisl|fuggetlen|oberoende|"
    r"uavhengig|uafhaengig|itsenai|независим|незалежн|bagimsiz|ανεξαρτητ)|独立|"
    r"\b(?:not|nicht|pas|no|non) (?:to us|zu uns|a nous|a nosotros|a noi)\b"
)
# "x@y.example (our English site)", "…, que leemos nosotros": said after the address.
_SAID_AFTER = re.compile(
    r"\W{0,3}(?:which |that |die |das |que |che |qui |dat )?(?:is |are |ist |est |es |e )?"
    r"(?:ours\b|(?:we|wir) (?:read|own|run|lesen|betreiben)\b|\w+ nosotros\b|"
    r"(?:our|unsere?|notre|nuestr[oa]|nostr[oa]|noss[oa]|onze|ons) (?:[\w-]+ ){0,2}"
    r"(?:site|web ?site|office|shop|company|brand|label|mailbox|seite|buro|firma|marke|bureau|marque|oficina|empresa|"
    r"marca|ufficio|sede|azienda|escritorio|kantoor|bedrijf)\b)"
)
# Headings of own places: what they list is called by what it is, not by whose it is.
_PLACES = re.compile(
    r"\b(?:show ?room|factory|warehouse|workshop|head ?quarters|head office|group office|branch(?:es)?|depot|"
    r"fabrik|lager|niederlassung\w*|zweigstelle\w*|filiale\w*|standort\w*|hauptsitz|zentrale|"
    r"usine|entrepot|atelier|siege|succursales?|fabrica|almacen|sucursal(?:es)?|sede|delegacion(?:es)?|"
    r"stabilimento|magazzino|filial|armazem|fabriek|magazijn|vestiging(?:en)?|filia|oddzial\w*|fabryka|pobock[ay]|"
    r"provozovna|zavod|telephely|uzem|depozit|fabrikken|lageret|tehdas|varasto|toimipiste|"
    r"филиал\w*|завод\w*|склад\w*|цех\w*|філі[яї]\w*|sube\w*|fabrika\w*|depo|υποκαταστημα\w*|εργοστασιο|chi nhanh|"
    r"nha may|xuong)\b|工場|営業所|支店|支社|本社|[总總]公司|分公司|工[厂廠]|[厂廠]\Z|分店|"
    r"본사|지사|지점|공장|โรงงาน|สาขา|مصنع|فرع"
)


def own_words_start(text: str) -> int:
    """Where the last words before a value start that make it the business's own; -1 without any."""
    start = -1
    for match in _OWN.finditer(text):
        if len(text) - match.end() <= MAX_CHARS_BETWEEN and not _DENIED.search(text, 0, match.start()):
            start = match.start()
    return start


def is_claimed_after(text: str) -> bool:
    """Whether the words after a value say that it is the business's own."""
    return _SAID_AFTER.match(text) is not None


def is_independent(text: str) -> bool:
    """Whether words around a value say that its owner is another business."""
    return _INDEPENDENT.search(text) is not None


def names_own_place(heading: str) -> bool:
    """Whether a heading is that of an own place: a factory, a branch."""
    return _PLACES.search(heading) is not None
