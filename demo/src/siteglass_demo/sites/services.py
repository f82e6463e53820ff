"""What businesses of a trade offer, in the languages of their pages, and sentences that say so."""

from __future__ import annotations

from functools import cache
from random import Random

# language | word of the trade in `corpus.demo.trades` | what it offers; in English, `Trade.keywords` says it.
_TABLE = """
de | Dental | Zahnreinigung, Zahnimplantate, Wurzelbehandlung, Zahnersatz, Bleaching, Kinderzahnheilkunde
de | Physio | Krankengymnastik, manuelle Therapie, Lymphdrainage, Massagen, Sportphysiotherapie, Hausbesuche
de | Clinic | Vorsorgeuntersuchung, Impfungen, Labor, Hausbesuche, Ultraschall, Videosprechstunde
de | Salon | Haarschnitt, Färben und Strähnen, Brautfrisuren, Bartpflege, Maniküre, Kosmetikbehandlung
de | Plumbing | Heizungswartung, Badsanierung, Rohrreinigung, Wärmepumpen, Notdienst, Trinkwasserfilter
de | Electric | Elektroinstallation, Wallbox, Photovoltaik, Smart Home, Beleuchtung, Zählerschrank
de | Roofing | Dachsanierung, Flachdach, Dachrinnen, Sturmschaden, Dachfenster, Wärmedämmung
de | Bakery | Sauerteigbrot, Brötchen, Torten, Hochzeitstorten, Frühstück, Kaffee
de | Auto | Inspektion, Reifenwechsel, Bremsen, Ölwechsel, Unfallreparatur, Hauptuntersuchung
de | Kitchen | Mittagstisch, Speisekarte, Weinkarte, Feiern, Catering, Biergarten
de | Hotel | Frühstück inklusive, Familienzimmer, Wellness, Tagungsräume, Seeblick, Haustiere willkommen
de | Law | Familienrecht, Arbeitsrecht, Erbrecht, Mietrecht, Verkehrsrecht, Erstberatung
de | Accounting | Steuererklärung, Lohnbuchhaltung, Jahresabschluss, Existenzgründung, Finanzbuchhaltung, Steuerplanung
de | Architects | Einfamilienhäuser, Umbau, Denkmalschutz, Bauleitung, Energieberatung, Innenarchitektur
de | Realty | Hausverkauf, Wohnungen, Wertermittlung, Vermietung, Besichtigungen, Kapitalanlagen
de | Digital | Suchmaschinenoptimierung, Google Ads, Content-Marketing, Webdesign, Social Media, Tracking
de | Studio | Webdesign, Corporate Design, Onlineshops, WordPress, UX-Beratung, Logoentwicklung
de | Precision | CNC-Fräsen, CNC-Drehen, Blechbearbeitung, Prototypen, Serienfertigung, Qualitätsprüfung
de | Valves | Kugelhähne, Absperrklappen, Sicherheitsventile, Ersatzteile, Edelstahlarmaturen, Sonderanfertigung
de | Outfitters | Wanderschuhe, Zelte, Rucksäcke, Schlafsäcke, Kletterausrüstung, Campingmöbel
de | Skincare | Gesichtspflege, Naturseife, Serum, Sonnenschutz, vegane Kosmetik, Geschenksets
de | Jewelry | Verlobungsringe, Halsketten, Ohrringe, Armbänder, Trauringe, Gravuren
de | Coffee | Kaffeebohnen, Espresso, Filterkaffee, Kaffeeabo, Kaffeemühlen, fair gehandelter Kaffee
de | Pets | Hundefutter, Katzenspielzeug, Leinen, Aquarien, Tierbetten, getreidefreies Futter
de | Furniture | Sofas, Esstische, Bürostühle, Betten, Leuchten, Massivholzmöbel
de | Apparel | Damenmode, Herrenmode, Biobaumwolle, Jeans, Sneaker, neue Kollektion
de | Bikes | E-Bikes, Rennräder, Lastenräder, Fahrradteile, Helme, Werkstatt
fr | Dental | implants dentaires, détartrage, blanchiment, orthodontie, prothèses, urgences dentaires
fr | Physio | rééducation, massage, kinésithérapie du sport, drainage lymphatique, ostéopathie, soins à domicile
fr | Kitchen | menu du jour, carte des vins, cuisine de saison, terrasse, salle privée, plats à emporter
fr | Hotel | petit-déjeuner, chambres familiales, spa, vue sur mer, salle de séminaire, parking gratuit
fr | Bakery | pain au levain, viennoiseries, pâtisseries, gâteaux de mariage, sandwichs, traiteur
fr | Salon | coupe, coloration, balayage, coiffure de mariage, barbier, soins du visage
fr | Law | droit de la famille, droit du travail, droit des affaires, divorce, succession, première consultation
fr | Realty | appartements à vendre, location, estimation, gestion locative, maisons, programmes neufs
fr | Digital | référencement naturel, publicité en ligne, réseaux sociaux, création de contenu, audit, stratégie
fr | Studio | création de sites internet, identité visuelle, logo, boutique en ligne, maintenance, ergonomie
fr | Plumbing | dépannage, chauffe-eau, salle de bains, débouchage, pompe à chaleur, entretien de chaudière
fr | Apparel | mode femme, mode homme, coton bio, nouveautés, baskets, accessoires
it | Hotel | colazione inclusa, camere familiari, vista mare, centro benessere, sala riunioni, animali ammessi
it | Kitchen | menù degustazione, carta dei vini, pizza, pesce fresco, eventi privati, cucina tipica
it | Dental | impianti dentali, sbiancamento, ortodonzia, igiene orale, protesi, odontoiatria infantile
it | Salon | taglio, colore, acconciature da sposa, trattamenti viso, barba, manicure
it | Law | diritto di famiglia, diritto del lavoro, successioni, diritto penale, recupero crediti, prima consulenza
it | Realty | appartamenti in vendita, affitti, ville, valutazione immobile, nuove costruzioni, gestione affitti
it | Winery | degustazione vini, visita alla cantina, vino rosso, vino bianco, vigneti, vino biologico
it | Furniture | divani, tavoli, cucine su misura, letti, illuminazione, arredo bagno
it | Apparel | moda donna, moda uomo, scarpe, cotone biologico, nuovi arrivi, accessori
it | Precision | tornitura, fresatura, carpenteria, prototipi, stampi, controllo qualità
es | Hotel | desayuno incluido, habitaciones familiares, vistas al mar, spa, salas de reuniones, aparcamiento
es | Kitchen | menú del día, carta de vinos, tapas, eventos privados, comida para llevar, cocina de temporada
es | Dental | implantes dentales, ortodoncia, blanqueamiento, endodoncia, odontopediatría, primera visita gratis
es | Salon | corte de pelo, coloración, peinados de novia, manicura, barbería, tratamientos faciales
es | Fitness | entrenamiento personal, clases de yoga, pilates, musculación, nutrición, clases dirigidas
es | Law | derecho de familia, derecho laboral, herencias, divorcios, extranjería, primera consulta
es | Realty | pisos en venta, alquiler, valoración gratuita, obra nueva, chalets, gestión de alquileres
es | Plumbing | calderas, desatascos, reformas de baños, urgencias, calentadores, aerotermia
es | Apparel | moda mujer, moda hombre, zapatillas, algodón orgánico, novedades, complementos
nl | Architects | woningbouw, verbouwing, interieurontwerp, duurzaam bouwen, bouwbegeleiding, vergunningen
nl | Bikes | elektrische fietsen, racefietsen, bakfietsen, onderdelen, helmen, onderhoud
nl | Kitchen | lunch, diner, wijnkaart, groepen, terras, afhalen
pt | Dental | implantes, clareamento, ortodontia, limpeza, próteses, odontopediatria
pt | Kitchen | prato do dia, carta de vinhos, eventos, entregas, cozinha regional, brunch
"""
# {a}, {b} and {c} are three of its services.
_SENTENCES: dict[str, tuple[str, ...]] = {
    "en": ("Our services include {a}, {b} and {c}.", "Ask us about {a}.", "Many people come to us for {b} and {c}."),
    "de": ("Unser Angebot: {a}, {b} und {c}.", "Fragen Sie uns nach {a}.", "Bei uns finden Sie auch {b} und {c}."),
    "fr": ("Nous proposons : {a}, {b} et {c}.", "Renseignez-vous sur {a}.", "Vous trouverez aussi {b} et {c}."),
    "it": ("Offriamo {a}, {b} e {c}.", "Chiedete informazioni su {a}.", "Da noi trovate anche {b} e {c}."),
    "es": ("Ofrecemos {a}, {b} y {c}.", "Pregúntenos por {a}.", "También disponemos de {b} y {c}."),
    "nl": ("Wij bieden {a}, {b} en {c}.", "Vraag ons naar {a}.", "Ook voor {b} en {c} kunt u bij ons terecht."),
    "pt": ("Oferecemos {a}, {b} e {c}.", "Pergunte-nos sobre {a}.", "Também temos {b} e {c}."),
}
# What only businesses of one kind say.
_OF_KIND: dict[tuple[str, str], tuple[str, ...]] = {
    ("de", "Healthcare"): (
        "Neue Patienten sind herzlich willkommen.",
        "Bitte bringen Sie zu Ihrem ersten Termin Ihre Versichertenkarte mit.",
        "In dringenden Fällen erreichen Sie uns telefonisch.",
    ),
    ("de", "Ecommerce"): (
        "Versandkostenfrei ab fünfzig Euro, Rückgabe innerhalb von dreißig Tagen.",
        "Bezahlen Sie bequem auf Rechnung, mit Karte oder in Raten.",
        "Alle Artikel sind auf Lager und in zwei Werktagen bei Ihnen.",
    ),
    ("de", "Hospitality"): (
        "Wir freuen uns, Sie bald als Gast bei uns zu begrüßen.",
        "Unsere Küche verwendet am liebsten Zutaten aus der Region.",
        "Für Gruppen und Feiern machen wir Ihnen gern ein Angebot.",
    ),
    ("de", "Firm"): (
        "Wir vertreten Privatpersonen und mittelständische Unternehmen.",
        "Ein erstes Gespräch ist oft schon innerhalb einer Woche möglich.",
    ),
    ("fr", "Hospitality"): (
        "Notre maison vous accueille toute l'année.",
        "Nous travaillons avec des producteurs de la région.",
        "Pour un groupe ou une fête, demandez-nous un devis.",
    ),
    ("it", "Hospitality"): (
        "Vi aspettiamo per un soggiorno tranquillo, a pochi passi dal centro.",
        "Le camere hanno aria condizionata, bagno privato e connessione gratuita.",
        "Per gruppi e ricevimenti prepariamo un'offerta su misura.",
        "Per prenotare chiamateci o scriveteci: rispondiamo entro poche ore.",
    ),
    ("it", "Firm"): (
        "Assistiamo privati e imprese in giudizio e fuori.",
        "Il primo colloquio si può tenere anche a distanza.",
    ),
    ("es", "Hospitality"): (
        "Le esperamos para disfrutar de unos días de descanso.",
        "Todas las habitaciones tienen baño privado y conexión gratuita.",
        "Para grupos y celebraciones preparamos una oferta a medida.",
    ),
    ("es", "Healthcare"): (
        "Atendemos a nuevos pacientes con cita previa.",
        "Trabajamos con las principales aseguradoras.",
    ),
    ("en", "Healthcare"): (
        "New patients are always welcome, and most insurance plans are accepted.",
        "Please arrive ten minutes early for your first visit.",
        "For emergencies outside office hours, call the number below.",
    ),
    ("en", "Agency"): (
        "We work with ambitious brands, from first idea to launch and beyond.",
        "Tell us about your project and we will come back with ideas, not a sales pitch.",
        "Our clients stay with us for four years on average.",
    ),
}


@cache
def _services() -> dict[tuple[str, str], tuple[str, ...]]:
    rows = ([cell.strip() for cell in row.split("|")] for row in _TABLE.strip().splitlines())
    return {(language, word): tuple(offers.split(", ")) for language, word, offers in rows}


def services(word: str, language: str, keywords: tuple[str, ...]) -> tuple[str, ...]:
    """What businesses of a trade offer, in the language of a page; () where nobody has written it down."""
    return keywords if language == "en" else _services().get((language, word), ())


def sentences(rng: Random, language: str, kind: str, offered: tuple[str, ...]) -> list[str]:
    """Sentences of a page about three services, and some that only a business of its kind says, in any order."""
    values = dict(zip("abc", offered, strict=False))
    said = [text.format_map(values) for text in _SENTENCES[language]] + list(_OF_KIND.get((language, kind), ()))
    return rng.sample(said, len(said))
