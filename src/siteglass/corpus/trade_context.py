"""Words around a trade word that decide whose trade it is: "roofing in Köln" against "software for roofers".
All folded, in the eight languages of `query.trades` together: one that means something else in another is left out."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    """Words one after the other, which is easier to read and to extend than a list of strings."""
    return frozenset(text.split())


# After one of these, up to the end of the clause, trades are those of customers, neighbours or clients.
OF_OTHERS = _words(
    """
    for helps help helping helped serving serve serves supplying supply supplies supplier suppliers connects connecting
    near nearby like including grow growing manage managing promote find compare choose choosing hire hiring book
    become becoming about between against versus vs without run running start starting open opening learn study
    fur besten werden lernen lerne verwalten hilft helfen unterstutzt unterstutzen beliefert beliefern finden
    vergleichen neben nahe uber zwischen
    pour meilleurs meilleures aide aidons aident accompagne accompagnons trouver trouvez comparer comparez devenir
    devenez gerer gerez apprendre pres sur entre
    para mejores ayuda ayudamos ayudan encuentra encuentre encontrar buscar busca comparar compara aprende aprenda
    aprender gestiona cerca sobre
    melhores ajuda ajudamos encontre encontra procura perto
    per migliori aiuta aiutiamo aiutano trova trovare confronta vicino diventare diventa imparare tra
    voor helpt helpen vind vinden vergelijk vergelijken worden nabij over tussen
    dla najlepsze najlepszych pomaga pomagamy znajdz porownaj obok blisko
    """
)

# Before a word of OF_OTHERS these say that what follows is what the business does: "Praxis für Physiotherapie".
OWN_PLACES = _words(
    """
    praxis gemeinschaftspraxis privatpraxis kanzlei fachbetrieb meisterbetrieb fachgeschaft studio institut institute
    zentrum center centre salon atelier werkstatt klinik fachklinik fachpraxis buro fachhandel gabinet praktijk centrum
    """
)

# After one of these a trade is only part of the business: "Hotel mit Restaurant". It counts for less.
WITH = frozenset(["with", "mit", "avec", "con", "com", "met", "z", "ze"])

# A trade word directly before one of these is what the thing is made for or about: "dental supplies".
THINGS_AFTER = _words(
    """
    supplies supply supplier suppliers equipment software app apps platform materials products parts tools wholesale
    wholesaler wholesalers distributor distributors marketing seo websites website leads jobs job careers recruitment
    recruiting staffing news magazine blog directory guide guides review reviews school academy training course courses
    college institute education association associations society federation union insurance financing finance
    consulting consultant consultants furniture uniforms industry sector manufacturers manufacturer machinery machines
    technology technologies solutions crm erp booking bookings deals coupons prices recipes forum community tips ideas
    street st road rd lane avenue ave square holiday holidays account accounts transfer details statement
    management accessories fixtures chemicals trade trades show expo conference summit fair
    bedarf zubehor einrichtung einrichtungen ausstattung mobel produkte maschinen grosshandel jobs stellenangebote
    ausbildung schule akademie kurse seminare verband verzeichnis vergleich portal ratgeber tipps nachrichten
    versicherung lieferant lieferanten hersteller innung magazin news
    benodigdheden groothandel opleiding opleidingen cursus cursussen vacatures vereniging gids apparatuur inrichting
    """
)

# The same before the trade word, with nothing but LINKS between: "annuaire des dentistes", "Verband der Zahnärzte".
THINGS_BEFORE = _words(
    """
    software app apps platform supplies equipment directory guide list lists association society federation union
    guild school academy college institute training courses course news blog magazine wholesale wholesaler
    distributor distributors manufacturer manufacturers supplier suppliers marketing seo websites
    verband innung verzeichnis liste bund ausbildung grosshandel grosshandler hersteller lieferant ratgeber
    logiciel logiciels fournitures fourniture fournisseur fournisseurs equipement equipements materiel mobilier annuaire
    syndicat federation ecole formation formations cours grossiste fabricant fabricants distributeur emploi emplois
    actualite actualites liste guide comparateur comparatif
    programa programas suministros suministro proveedor proveedores equipamiento equipos mobiliario directorio colegio
    asociacion federacion escuela academia curso cursos formacion mayorista fabricante fabricantes distribuidor
    empleo empleos noticias lista guia comparador productos
    fornecedor fornecedores equipamento equipamentos diretorio associacao federacao escola formacao atacadista grossista
    emprego empregos vagas produtos sindicato
    forniture fornitura fornitore fornitori attrezzature attrezzatura arredamento arredi elenco associazione
    federazione scuola corso corsi formazione ingrosso produttore distributore offerte lavoro notizie guida prodotti
    benodigdheden groothandel leverancier leveranciers gids lijst vereniging opleiding cursus brancheorganisatie
    vacatures overzicht
    oprogramowanie program programy wyposazenie zaopatrzenie hurtownia dostawca producent katalog lista spis ranking
    stowarzyszenie zwiazek szkola szkolenia szkolenie kurs kursy praca oferty wiadomosci
    """
)
LINKS = _words(
    """
    of the a an in our your and der die das den dem des von vom zum zur im fur de du des d la le les l un une
    del los las el en y do da dos das e di dei degli delle della dello i gli il lo van het een voor w z na i
    """
)

# Titles and headings with one of these are about trades: articles, directories, comparisons.
ABOUT_TRADES = (
    "how to", "what is", "what are", "why", "when to", "guide to", "tips", "directory", "listings", "near me", "jobs",
    "find a", "find the", "find an", "compare", "top 5", "top 10", "top 20", "top 50", "top 100", "vs", "news", "blog",
    "forum", "wiki", "encyclopedia", "reviews of", "ranking", "rankings",
    "verzeichnis", "branchenbuch", "branchenverzeichnis", "vergleich", "vergleichsportal", "ratgeber", "nachrichten",
    "stellenangebote", "tipps", "was ist", "wie man", "warum",
    "annuaire", "comparateur", "comparatif", "actualites", "actualite", "comment choisir", "trouver un", "trouvez un",
    "directorio", "comparador", "noticias", "como elegir", "encuentra", "buscador", "empleos",
    "diretorio", "como escolher", "encontre", "vagas",
    "elenco", "comparatore", "notizie", "come scegliere", "trova", "annunci",
    "bedrijvengids", "vergelijk", "vergelijken", "nieuws", "vacatures", "vind een", "hoe kies",
    "katalog firm", "porownaj", "porownywarka", "wiadomosci", "znajdz", "ogloszenia", "jak wybrac", "praca",
)  # fmt: skip

# Before these, or at the end, a trade word closes what it belongs to: "Family Dentist in Austin".
AFTER_TRADE = _words(
    """
    in at near of from since serving and is are und im am bei aus seit ist sind a au aux et en depuis est sont y e em
    no na desde es son sao di ad dal della nel presso sinds te van bij en is zijn w we od i oraz jest to dla
    gmbh ag kg ug ek ev ohg inc llc llp ltd limited co corp company plc pllc pc pa sarl sas sa sl srl spa snc sas lda
    ltda bv nv vof sp zoo
    """
)
# Before a trade word at the beginning of what it belongs to: "Ihre Zahnarztpraxis", "Welcome to the Hotel".
BEFORE_TRADE = _words(
    """
    your the our a an we are is as welcome to professional local expert experienced trusted licensed certified family
    independent leading modern
    ihr ihre ihrem ihrer unser unsere der die das ein eine einem wir sind willkommen bei beim im in zum zur dr
    moderne moderner modernes freundliche herzlich
    votre vos notre nos le la les l un une nous sommes bienvenue chez a au dans est
    su tu nuestro nuestra el la los las un una somos bienvenidos bienvenido en es al
    seu sua nosso nossa o os as um uma somos bem vindo vindos ao no na e
    il lo i gli vostro vostra tuo tua nostro nostra siamo benvenuti benvenuto al alla da in un uno una
    uw jouw je onze het een wij zijn welkom bij is de
    twoj twoja nasz nasza jestesmy witamy w nowoczesny nowoczesna profesjonalny profesjonalna
    """
)

# Between a trade and its place: "Dentist in Leeds".
PLACE_WORDS = frozenset(["in", "near", "serving", "a", "en", "em", "w", "we", "te", "im", "au", "no", "na", "ad"])

# What a business says of itself, by two words in a row. The first person is its own; "is a" needs its name before.
FIRST_PERSON = frozenset(
    tuple(pair.split())
    for pair in """
    we are,i am,as a,as an,your local,your trusted,wir sind,ich bin,bin ich,sind wir,als ihr,nous sommes,je suis,
    somos una,
    somos un,somos tu,somos su,nosotros somos,somos uma,somos um,nos somos,siamo un,siamo una,siamo uno,noi siamo,
    sono un,sono una,wij zijn,we zijn,ik ben,zijn wij,my jestesmy,jestesmy firma
    """.replace("\n", "").split(",")
)
THIRD_PERSON = frozenset(
    tuple(pair.split())
    for pair in """
    is a,is an,is the,are a,are an,ist ein,ist eine,sind ein,ist ihr,ist ihre,est un,est une,est votre,es una,es un,
    es tu,
    es su,e uma,e um,e o,e a,e un,e una,e uno,e il,e lo,is een,is uw,to nowoczesna,to nowoczesny,to rodzinna,
    to rodzinny,
    to profesjonalny,to profesjonalna,jest to
    """.replace("\n", "").split(",")
)
# Between such words and a trade these show that it is not what the business is: "we are located next to the bank".
NOT_BETWEEN = _words(
    """
    to in at by from of on next located with behind opposite who that which
    am an auf bei beim neben zu zum zur im nahe von vom mit
    dans chez pres avec situes situe
    cerca junto al con ubicados desde
    ao perto com situados
    nel presso vicino situati
    naast bij gelegen met
    przy obok blisko z
    """
)

# Words that name people and brands as often as trades: "Baker & Smith" are lawyers, "Velvet Quarry" sells sofas.
NAME_WORDS = _words(
    """
    baker butcher carpenter cook cooper gardener mason painter potter taylor tailor tanner turner fisher farmer shepherd
    backer baecker maler maurer metzger fleischer schneider schreiner tischler zimmermann zimmerer gartner gaertner
    glaser schuster schlosser bauer koch weber fischer schmied sattler drucker
    boulanger boucher charpentier mercier couvreur fournier barbier meunier
    herrero sastre molinero zapatero carpintero barbero panadero
    ferreiro padeiro alfaiate pedreiro
    barbieri fabbri sarto fornaio muratore barbiere pastore
    bakker slager timmerman kuiper visser schilder smid
    quarry forge foundry mill mills mine mint port post station stage tower castle harbour market temple chapel press
    orchard lab labs guild band agency journal workshop
    werft mine quelle speicher garten tempel
    kowal krawiec piekarz rzeznik mlynarz stolarz szewc
    """
)

# Endings of German and Dutch compounds that say too little: a "Datenbank" is not a bank.
VAGUE_ENDINGS = _words(
    """
    schule school bank verein stiftung kirche markt laden werk kammer museum theater garage verlag partei gemeinde
    winkel kerk stichting praxis praktijk agentur bureau klinik kliniek station hersteller handel handler hof
    """
)

# Types of schema.org for which `query.trades` has a trade but names another type.
MORE_TYPES = {
    "HealthClub": "gym",
    "MensClothingStore": "clothing_store",
    "OutletStore": "retail",
    "ElementarySchool": "school",
    "HighSchool": "school",
    "MiddleSchool": "school",
    "LanguageSchool": "language_school",
    "Newspaper": "newspaper",
    "CityHall": "municipality",
    "FuneralHome": "funeral_home",
    "MedicalBusiness": "healthcare",
    "PrimaryCare": "general_practitioner",
    "Dermatology": "dermatologist",
    "Gynecologic": "gynecologist",
    "Pediatric": "pediatrician",
    "PlasticSurgery": "plastic_surgeon",
    "Psychiatric": "psychiatrist",
    "Physiotherapy": "physiotherapist",
    "Podiatric": "podiatrist",
    "Optometric": "optometrist",
    "Midwifery": "midwife",
    "DietNutrition": "nutritionist",
    "CatholicChurch": "church",
    "TheaterGroup": "theater",
    "Aquarium": "zoo",
}

# What makes the name of a shop of the name of goods, before and after it, by language.
SHOPS = {
    "en": ((), ("store", "shop")),
    "de": ((), ("geschaft", "laden", "shop", "handel")),
    "nl": ((), ("winkel", "shop", "zaak")),
    "fr": (("magasinde", "boutiquede"), ()),
    "es": (("tiendade",), ()),
    "pt": (("lojade",), ()),
    "it": (("negoziodi",), ()),
    "pl": (("sklepz",), ()),
}
# Goods by their name alone, but other things as often.
NOT_GOODS = _words(
    """
    book books gift gifts online phone phones mobile post outlet water party general home music video game games web
    garden kitchen light beauty health sport sports second used vintage farm local fresh body care design office card
    buch handy telefon garten licht haus kuche wein mode sport boek boeken telefoon keuken
    livre livres jeux sport telephone maison jardin cadeaux libros juegos regalos casa cocina moda livros jogos
    presentes
    libri giochi regali cucina bebe baby
    """
)
SOFTWARE_WORDS = _words(
    """
    software app apps platform saas tool crm erp api plattform logiciel plateforme plataforma aplicacion programa
    sistema
    piattaforma gestionale applicazione softwareoplossing oprogramowanie aplikacja platforma system
    """
)
