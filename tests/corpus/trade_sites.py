"""Made-up sites in eight languages with the trades that a reader would give them: those the rules were written with."""

from __future__ import annotations

from siteglass.corpus.trade_rules import SiteWords

_S = SiteWords
SITES: tuple[tuple[str, SiteWords], ...] = (
    # English
    ("roofer", _S(title="Smith & Sons Roofing | Austin, TX", heading="Roofs that last", domain="smithandsonsroofing.com", description="Family-owned roofing company serving Austin since 1984. Free estimates for residential and commercial roofs.", language="en")),
    ("dentist", _S(title="Bright Smile Family Dental - Dentist in Leeds", heading="Welcome to our dental practice", description="Gentle dentistry for the whole family.", language="en", domain="brightsmile.co.uk")),
    ("law_firm", _S(title="Home", name="Baker & Klein LLP", heading="Attorneys who listen", description="Baker & Klein is a law firm in Chicago for business owners.", text="Our attorneys at law have tried cases since 1990.", language="en", domain="bakerklein.com")),
    ("hotel", _S(title="The Grand Harbour Hotel, Brighton", heading="A room with a view", description="Boutique hotel with restaurant and spa on the seafront.", language="en", domain="grandharbour.com", schema_types=["Hotel"])),
    ("yoga_studio", _S(title="Lotus Yoga Studio | Classes in Portland", heading="Breathe", description="Vinyasa, yin and prenatal yoga classes.", language="en", domain="lotusyoga.com")),
    ("plumber", _S(title="Emergency Plumber Manchester | 24/7 | FastFlow", heading="Need a plumber?", description="Local plumbers for leaks, boilers and blocked drains.", language="en", domain="fastflow.co.uk")),
    ("web_design_agency", _S(title="PixelForge - Websites for dentists", heading="We build websites for dentists and doctors", description="A web design agency that helps dental practices grow.", language="en", domain="pixelforge.com", service_type="Agency")),
    ("marketing_agency", _S(title="TableTurn | Restaurant marketing agency", heading="More guests for your restaurant", description="We help restaurants and hotels fill tables.", language="en", domain="tableturn.com", service_type="Agency")),
    ("", _S(title="How to choose a roofer: 10 tips", heading="How to choose a roofer", description="Before you hire a roofing contractor, read this.", language="en", domain="homewise.com")),
    ("", _S(title="Find a dentist near you | DentalFinder", heading="Find a dentist", description="Directory of 20,000 dentists, orthodontists and clinics.", language="en", domain="dentalfinder.com")),
    ("", _S(title="KitchenPro - software for restaurants", heading="Run your restaurant with one app", description="The all-in-one platform for restaurants, bars and cafes.", language="en", domain="kitchenpro.io", service_type="SaaS")),
    ("", _S(title="Dental Supplies & Equipment | DentaMart", heading="Everything for the dental practice", description="Shop dental supplies online with free delivery.", language="en", domain="dentamart.com")),
    ("", _S(title="City Gazette: Hotel prices rise again", heading="Hotel prices rise again", description="Hotels in the city charge more than last year, figures show.", language="en", domain="citygazette.com", service_type="Publisher")),
    ("accountant", _S(title="Accountants in Bristol | Moor & Co", heading="Chartered accountants for small businesses", description="Tax returns, payroll and bookkeeping.", language="en", domain="moorco.co.uk")),
    ("real_estate_agency", _S(title="Harper Realty | Homes for Sale in Denver", heading="Find your next home", description="Real estate agents with 20 years of experience.", language="en", domain="harperrealty.com", schema_types=["RealEstateAgent"])),
    ("skincare_shop", _S(title="Fern & Clay | Natural Skincare Shop", heading="Skincare that is kind", description="Shop vegan skincare online. Free shipping.", language="en", domain="fernandclay.com", schema_types=["OnlineStore"])),
    ("photographer", _S(title="Jane Doe Photography - Wedding Photographer, Kent", heading="Wedding photographer", description="Documentary wedding photography.", language="en", domain="janedoephotography.com")),
    ("electrician", _S(title="Volt Electrical Contractors Ltd", heading="Electricians you can trust", description="Rewiring, EV chargers and testing across Essex.", language="en", domain="voltelectrical.co.uk")),
    ("personal_injury_lawyer", _S(title="Carpenter Law | Personal Injury Attorneys", heading="Hurt? Call Carpenter.", description="Personal injury lawyers in Tampa.", language="en", domain="carpenterlaw.com")),
    ("brewery", _S(title="Old Mill Brewing Co. | Craft Brewery & Taproom", heading="Beer from here", language="en", domain="oldmillbrewing.com", description="Craft brewery in Vermont.")),
    ("", _S(title="Acme Inc.", heading="Welcome", description="We make things better.", language="en", domain="acme.com")),
    ("", _S(title="National Association of Home Inspectors' Friends", heading="Become a member", description="We lobby for home inspectors.", language="en", domain="nahif.org")),
    ("gym", _S(title="Iron Temple Gym | Fitness Centre in Cork", heading="Join the gym", description="Gym with personal trainers and classes.", language="en", domain="irontemple.ie", schema_types=["ExerciseGym"])),
    ("software_company", _S(title="Nordlake Software Company", heading="Custom software for logistics", description="We are a software company from Seattle. We build systems for trucking companies.", language="en", domain="nordlake.com")),
    # German
    ("roofer", _S(title="Müller Dachdeckerei GmbH – Ihr Dachdecker in Köln", heading="Alles rund ums Dach", description="Dachdeckermeister aus Köln: Steildach, Flachdach, Dachfenster.", language="de", domain="dachdeckerei-mueller.de")),
    ("dentist", _S(title="Zahnarztpraxis Dr. Anna Klein | Berlin-Mitte", heading="Willkommen in unserer Praxis", description="Ihre Zahnärztin in Berlin für Prophylaxe und Implantate.", language="de", domain="praxis-klein.de")),
    ("physiotherapist", _S(title="Praxis für Physiotherapie Sommer", heading="Physiotherapie in Bonn", description="Krankengymnastik, Massage und Lymphdrainage.", language="de", domain="physio-sommer.de")),
    ("hotel", _S(title="Landhotel Zur Linde - Wellnesshotel im Schwarzwald", heading="Urlaub im Schwarzwald", description="Familiengeführtes Hotel mit Restaurant und Sauna.", language="de", domain="landhotel-linde.de")),
    ("software_company", _S(title="PraxisSoft – Software für Zahnarztpraxen", heading="Die Praxissoftware für Zahnärzte", description="Termine und Abrechnung für Ihre Zahnarztpraxis.", language="de", domain="praxissoft.de", service_type="SaaS")),
    ("", _S(title="Restaurants in Hamburg: die besten Adressen im Vergleich", heading="Die besten Restaurants in Hamburg", description="Wir haben 50 Restaurants getestet.", language="de", domain="hamburg-tipps.de")),
    ("law_firm", _S(title="Kanzlei Schneider & Bauer | Rechtsanwälte Stuttgart", heading="Ihre Rechtsanwälte", description="Fachanwälte für Arbeitsrecht und Familienrecht.", language="de", domain="schneider-bauer.de")),
    ("bakery", _S(title="Bäckerei Huber", heading="Brot aus Leidenschaft", description="Traditionsbäckerei seit 1920 in Passau.", language="de", domain="baeckerei-huber.de")),
    ("driving_school", _S(title="Fahrschule Blitz Dortmund", heading="Führerschein Klasse B", description="Deine Fahrschule in Dortmund.", language="de", domain="fahrschule-blitz.de")),
    ("association", _S(title="Verband der Zahnärzte e.V.", heading="Für unsere Mitglieder", description="Der Verband vertritt Zahnärzte in Deutschland.", language="de", domain="vdz-verband.de")),
    ("tax_advisor", _S(title="Steuerberatung Wolf | Steuerberater in Mainz", heading="Steuern einfach gemacht", description="Buchhaltung und Jahresabschluss.", language="de", domain="stb-wolf.de")),
    ("machine_builder", _S(title="Kern Maschinenbau GmbH", heading="Sondermaschinen für die Automobilindustrie", description="Maschinenbauer aus Schwaben: Montageanlagen und Pressen.", language="de", domain="kern-maschinenbau.de")),
    # French
    ("dentist", _S(title="Cabinet dentaire Dupont - Dentiste à Lyon", heading="Votre dentiste à Lyon", description="Soins, implants et blanchiment.", language="fr", domain="cabinet-dupont.fr")),
    ("restaurant", _S(title="Chez Louise, restaurant à Bordeaux", heading="Cuisine de saison", description="Restaurant bistronomique au cœur de Bordeaux.", language="fr", domain="chezlouise.fr", schema_types=["Restaurant"])),
    ("plumber", _S(title="Plombier Paris 15 | Dépannage Martin", heading="Plombier chauffagiste", description="Artisan plombier pour toutes vos fuites.", language="fr", domain="depannage-martin.fr")),
    ("law_firm", _S(title="Cabinet d'avocats Moreau & Associés", heading="Droit des affaires", description="Avocats au barreau de Nantes.", language="fr", domain="moreau-avocats.fr")),
    ("software_company", _S(title="Logiciel pour restaurants et hôtels - Gestio", heading="Gérez votre restaurant", description="Caisse et réservations pour hôtels, bars et restaurants.", language="fr", domain="gestio.fr")),
    ("", _S(title="Annuaire des dentistes de France", heading="Trouvez un dentiste", description="Tous les dentistes près de chez vous.", language="fr", domain="annu-dent.fr")),
    ("hairdresser", _S(title="Salon de coiffure L'Atelier, Lille", heading="Coiffeur visagiste", description="Votre coiffeur à Lille.", language="fr", domain="latelier-lille.fr")),
    # Spanish
    ("law_firm", _S(title="Bufete de abogados Ruiz | Abogados en Sevilla", heading="Abogados de confianza", description="Despacho de abogados con 30 años de experiencia.", language="es", domain="ruizabogados.es")),
    ("veterinarian", _S(title="Clínica veterinaria Patitas - Valencia", heading="Cuidamos de tu mascota", description="Veterinarios con urgencias 24 horas.", language="es", domain="patitas.es")),
    ("restaurant", _S(title="Restaurante La Parra", heading="Cocina mediterránea", description="Restaurante en Málaga con terraza.", language="es", domain="laparra.es")),
    ("", _S(title="Suministros para hoteles y restaurantes | HostelMart", heading="Mobiliario para hostelería", description="Equipamiento para bares, hoteles y restaurantes.", language="es", domain="hostelmart.es")),
    ("roofer", _S(title="Tejados Gómez | Empresa de tejados en Madrid", heading="Reparación de tejados", description="Tejadores con garantía.", language="es", domain="tejadosgomez.es")),
    # Portuguese
    ("dentist", _S(title="Clínica Dentária Sorriso | Dentista em Braga", heading="O seu dentista em Braga", description="Implantes e ortodontia.", language="pt", domain="clinicasorriso.pt")),
    ("real_estate_agency", _S(title="Imobiliária Costa Azul - Casas em Faro", heading="A sua imobiliária no Algarve", description="Compra e venda de apartamentos.", language="pt", domain="costaazul.pt")),
    ("accountant", _S(title="Silva Contabilidade | Escritório de contabilidade", heading="Contabilidade para empresas", description="Contabilistas certificados no Porto.", language="pt", domain="silvacontabilidade.pt")),
    ("", _S(title="Curso de cabeleireiro online", heading="Aprenda a ser cabeleireiro", description="Cursos de cabeleireiro e barbeiro.", language="pt", domain="aprenda.com.br")),
    # Italian
    ("restaurant", _S(title="Ristorante Da Mario - Trastevere, Roma", heading="Cucina romana", description="Il ristorante della famiglia Rossi dal 1950.", language="it", domain="damario.it")),
    ("dentist", _S(title="Studio dentistico Bianchi | Dentista a Torino", heading="Il tuo dentista a Torino", description="Implantologia e ortodonzia.", language="it", domain="studiobianchi.it")),
    ("software_company", _S(title="Software per hotel e ristoranti - OspitaPro", heading="Gestionale per ristoranti", description="Il programma per alberghi e bar.", language="it", domain="ospitapro.it")),
    ("winery", _S(title="Cantina Colle Verde | Vini del Chianti", heading="La nostra cantina", description="Azienda vinicola in Toscana.", language="it", domain="colleverde.it")),
    # Dutch
    ("roofer", _S(title="Dakdekkersbedrijf De Vries | Dakdekker Utrecht", heading="Uw dakdekker in Utrecht", description="Dakreparatie en dakisolatie.", language="nl", domain="dakdekkerdevries.nl")),
    ("physiotherapist", _S(title="Fysiotherapie Zuid - Fysiotherapeut in Breda", heading="Fysiotherapie in Breda", description="Fysiotherapiepraktijk met vier therapeuten.", language="nl", domain="fysiozuid.nl")),
    ("florist", _S(title="Bloemenwinkel Roos", heading="Verse bloemen", description="Bloemist in Gent: boeketten en rouwwerk.", language="nl", domain="bloemenroos.be")),
    ("payment_provider", _S(title="Kassasysteem voor restaurants en cafés | Kassio", heading="Software voor de horeca", description="Het kassasysteem voor restaurants, hotels en bars.", language="nl", domain="kassio.nl")),
    # Polish
    ("dentist", _S(title="Gabinet stomatologiczny Uśmiech | Dentysta Kraków", heading="Stomatolog w Krakowie", description="Leczenie zębów, implanty, protetyka.", language="pl", domain="usmiech.pl")),
    ("law_firm", _S(title="Kancelaria adwokacka Nowak", heading="Adwokat Warszawa", description="Adwokaci od prawa rodzinnego.", language="pl", domain="nowak-adwokat.pl")),
    ("hotel", _S(title="Hotel Pod Lipami *** Zakopane", heading="Hotel w sercu Tatr", description="Pokoje, restauracja i basen.", language="pl", domain="podlipami.pl")),
    ("software_company", _S(title="Oprogramowanie dla restauracji - Gastrosys", heading="System dla restauracji i hoteli", description="Program dla restauracji, barów i hoteli.", language="pl", domain="gastrosys.pl")),
)  # fmt: skip
