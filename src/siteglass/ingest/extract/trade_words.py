"""Phrases by which sites say what kind of business they are and what they offer; folded, of at most three words.

Only phrases that hardly mean anything else in a title: "law firm", not "law"; "online shop", not "shop". An
entry may end in the category that such a business offers, after "="; it continues after a comma.
"""

from __future__ import annotations

from siteglass.query.folding import fold

_SERVICE_TYPES = {
    "Agency": """
        advertising agency, ad agency, ppc agency, werbeagentur, agence de publicite, agencia de publicidad,
            agenzia pubblicitaria, reclamebureau, agence publicitaire = advertising
        marketing agency, digital agency, creative agency, digital marketing agency, branding agency,
            full service agency, marketingagentur, digitalagentur, kreativagentur, onlineagentur, agence digitale,
            agence de communication, agence marketing, agencia de marketing, agencia digital,
            agencia de comunicacion, agenzia di comunicazione, agenzia di marketing, agenzia web marketing,
            marketingbureau, agencja marketingowa, agencja reklamowa = marketing
        seo agency, seo agentur, agence seo, agencia seo, agenzia seo, seo bureau = seo_structured_data
        web design agency, web agency, webdesign agentur, webagentur, internetagentur, agence web, agencia web,
            agenzia web, webdesign bureau, web design studio, web design company, webdesign, diseno web,
            creation de sites = website_builder
        social media agency, social media agentur, influencer agency = social_media_marketing
        lead generation agency, leadgenerierung agentur = lead_generation
        pr agency, design agency, design studio, video production company, recruitment agency, staffing agency,
            personalvermittlung, personalberatung, translation agency""",
    "Consultant": """
        management consulting, management consultants, consulting firm, business consulting, it consulting,
            strategy consulting, unternehmensberatung, unternehmensberater, it beratung, cabinet de conseil,
            conseil en management, consultoria empresarial, consultoria de negocios, consulenza aziendale,
            consultoria, adviesbureau, business coach, executive coaching, doradztwo biznesowe""",
    "Ecommerce": """
        online shop, online store, onlineshop, webshop, web shop, shop online, buy online, free shipping,
            online kaufen, online bestellen, boutique en ligne, achat en ligne, tienda online, comprar online,
            loja online, loja virtual, negozio online, acquista online, vendita online, online winkel, webwinkel,
            sklep internetowy, internetbutik, natbutik, nettbutikk, e shop, verkkokauppa, internetovy obchod,
            online magazin, online satis, интернет магазин, kostenloser versand, livraison gratuite, envio gratis,
            frete gratis, gratis verzending, オンラインショップ, 公式通販, 网上商城 = ecommerce""",
    "Education": """
        university, college, primary school, secondary school, high school, elementary school, grammar school,
            language school, driving school, business school, private school, music school, kindergarten,
            preschool, online courses, e learning platform, training academy, universitat, hochschule,
            fachhochschule, grundschule, realschule, berufsschule, volkshochschule, fahrschule, sprachschule,
            musikschule, universite, ecole primaire, ecole de langues, lycee, auto ecole, universidad, colegio,
            escuela de idiomas, instituto superior, universidade, faculdade, scuola primaria, scuola di lingue,
            universita degli studi, liceo scientifico, basisschool, hogeschool, universiteit, rijschool,
            uniwersytet, szkola podstawowa, przedszkole, университет, 大学, 小学校, 学院, 幼稚園 = education""",
    "Entertainment": """
        movie theater, night club, nightclub, amusement park, theme park, escape room, live music venue,
            concert hall, event venue, comedy club, film production, record label, dj services, freizeitpark, kino,
            diskothek, konzerthaus, parc d'attractions, salle de concert, parque tematico, museum, musee, museo""",
    "Financial Services": """
        wealth management, financial advisor, financial advisors, financial planning, financial planner,
            insurance agency, insurance broker, insurance brokers, credit union, mortgage broker,
            investment management, asset management, private equity, venture capital, sparkasse, volksbank,
            raiffeisenbank, versicherungsmakler, versicherungsagentur, finanzberatung, vermogensverwaltung, banque,
            courtier en assurance, courtier en assurances, gestion de patrimoine, correduria de seguros,
            asesor financiero, corretora de seguros, agenzia assicurativa, consulente finanziario, verzekeringen,
            hypotheekadvies, ubezpieczenia, kredyty, saving bank, community bank = financial_services""",
    "Firm": """
        law firm, law firms, law office, law offices, attorneys at law, attorney at law, personal injury lawyer,
            personal injury attorney, criminal defense, divorce lawyer, family law, solicitors, barristers,
            rechtsanwalt, rechtsanwalte, rechtsanwaltin, rechtsanwaltskanzlei, anwaltskanzlei, notariat,
            cabinet d'avocats, cabinet d'avocat, avocat, avocats, abogado, abogados, bufete de abogados,
            despacho de abogados, advogado, advogados, advocacia, studio legale, avvocato, avvocati,
            advocatenkantoor, advocaten, kancelaria adwokacka, kancelaria prawna, адвокат, 法律事務所,
            律师事务所 = legal_service
        accounting firm, accountants, chartered accountants, cpa firm, tax advisors, bookkeeping services,
            steuerberater, steuerberatung, steuerkanzlei, wirtschaftsprufer, expert comptable, cabinet comptable,
            asesoria fiscal, contabilidade, commercialista, studio commercialista, accountantskantoor,
            biuro rachunkowe, architects, architecture firm, architekten, architekturburo, cabinet d'architecture,
            arquitectos, engineering firm, ingenieurburo, 税理士事務所""",
    "Gaming": """
        game studio, game developer, video games, indie games, mobile games, online games, esports, browser game,
            videospiele, spieleentwickler, jeux video, videojuegos, gry komputerowe, minecraft server""",
    "Government": """
        official website of, city council, county council, town council, borough council, parish council,
            department of state, government of, municipality of, stadtverwaltung, gemeindeverwaltung, landratsamt,
            bundesministerium, mairie, ayuntamiento, gobierno de, prefeitura, prefeitura municipal,
            camara municipal, governo do estado, comune di, ministero, gemeente, urzad miasta, urzad gminy, kommun,
            администрация города, 市役所, 人民政府""",
    "Healthcare": """
        dentist, dentists, dental clinic, dental practice, family dentistry, cosmetic dentistry, orthodontist,
            orthodontics, medical center, medical centre, medical clinic, medical practice, hospital,
            physiotherapy, physical therapy, physiotherapist, chiropractor, chiropractic, dermatology, pediatrics,
            urgent care, pharmacy, veterinary clinic, animal hospital, home care, psychotherapy, zahnarzt,
            zahnarztin, zahnarzte, zahnarztpraxis, arztpraxis, hausarzt, hausarztpraxis, physiotherapie,
            krankenhaus, klinikum, apotheke, tierarzt, tierarztpraxis, pflegedienst, orthopade, heilpraktiker,
            cabinet dentaire, dentiste, cabinet medical, pharmacie, kinesitherapeute, osteopathe, veterinaire,
            clinica dental, dentista, clinica medica, fisioterapia, farmacia, veterinario, odontologia,
            studio dentistico, poliambulatorio, tandarts, tandartspraktijk, huisarts, huisartsenpraktijk,
            fysiotherapie, apotheek, stomatolog, przychodnia, tandlakare, tandlaege, hammaslaakari, стоматология,
            клиника, 歯科, クリニック, 病院, 医院 = healthcare""",
    "Hospitality": """
        hotel, hotels, restaurant, restaurants, bed and breakfast, guest house, guesthouse, boutique hotel, resort,
            hostel, motel, vacation rentals, holiday cottages, campsite, pizzeria, steakhouse, bistro, coffee shop,
            wine bar, catering, gasthaus, gasthof, ferienwohnung, ferienwohnungen, campingplatz, chambres d'hotes,
            gite, auberge, brasserie, restaurante, hostal, casa rural, pousada, ristorante, trattoria, agriturismo,
            albergo, osteria, restauracja, noclegi, ravintola, ресторан, гостиница, отель, レストラン, ホテル,
            旅館, 居酒屋, 酒店, 餐厅""",
    "Local Business": """
        plumber, plumbers, plumbing, plumbing services, electrician, electricians, roofing, roofing contractor,
            roofers, hvac, heating and cooling, air conditioning repair, landscaping, lawn care, tree service,
            pest control, house cleaning, cleaning services, carpet cleaning, auto repair, car repair, body shop,
            hair salon, hairdresser, barber shop, barbershop, beauty salon, nail salon, day spa, tattoo studio,
            locksmith, movers, moving company, handyman, home remodeling, general contractor, painting contractor,
            funeral home, dry cleaning, florist, dog grooming, towing service, klempner, elektriker,
            elektrotechnik, dachdecker, malerbetrieb, sanitar heizung, heizung sanitar, tischlerei, schreinerei,
            friseur, friseursalon, kosmetikstudio, autowerkstatt, kfz werkstatt, gartenbau, gebaudereinigung,
            umzuge, schlusseldienst, backerei, metzgerei, fleischerei, plombier, electricien, couvreur, menuiserie,
            coiffeur, salon de coiffure, institut de beaute, paysagiste, serrurier, garage automobile, boulangerie,
            fontanero, fontaneria, electricista, peluqueria, cerrajero, taller mecanico, encanador, eletricista,
            cabeleireiro, oficina mecanica, idraulico, elettricista, parrucchiere, parrucchieri, fabbro,
            autofficina, impresa edile, loodgieter, elektricien, dakdekker, kapper, kapsalon, schoonheidssalon,
            hovenier, hydraulik, fryzjer, mechanik samochodowy, frisor, сантехник, салон красоты, автосервис,
            美容室, 工務店""",
    "Manufacturer": """
        manufacturer of, manufacturers of, leading manufacturer, contract manufacturer, cnc machining,
            injection molding, metal fabrication, sheet metal, machine shop, oem manufacturer, maschinenbau,
            hersteller von, metallbau, werkzeugbau, sondermaschinenbau, lohnfertigung, zerspanungstechnik,
            fabricant de, fabrication industrielle, usinage de precision, fabricante de, fabricantes de,
            fabrica de, produttore di, produzione di, costruzione macchine, carpenteria metallica, fabrikant van,
            machinebouw, metaalbewerking, производитель, 製造業, 株式会社製作所, 生产厂家, 制造商""",
    "Marketplace": """
        online marketplace, b2b marketplace, classified ads, classifieds, free classifieds, buy and sell,
            kleinanzeigen, marktplatz fur, petites annonces, place de marche, anuncios clasificados, classificados,
            annunci gratuiti, marktplaats, ogloszenia, объявления = ecommerce""",
    "Mobile App": """
        mobile app, download the app, ios and android, available on ios, app store and, get the app, iphone app,
            android app, app herunterladen, telecharger l'application, descarga la app, baixe o app,
            scarica l'app = mobile_app""",
    "Non-Profit": """
        non profit, nonprofit, not for profit, nonprofit organization, registered charity, charity,
            charitable foundation, food bank, animal rescue, gemeinnutzig, gemeinnutziger verein,
            hilfsorganisation, forderverein, sportverein, ehrenamt, association loi 1901, association a but, ong,
            organisation non gouvernementale, sin fines de, sin animo de, fundacion, fundacao, sem fins lucrativos,
            organizzazione di volontariato, associazione di volontariato, onlus, goede doelen, stichting, fundacja,
            stowarzyszenie, kirchengemeinde, church, baptist church, благотворительный фонд, npo法人""",
    "Publisher": """
        breaking news, latest news, news and analysis, daily newspaper, online magazine, newspaper, news portal,
            press agency, nachrichten, tageszeitung, aktuelle nachrichten, nachrichtenportal, actualites en direct,
            toute l'actualite, journal quotidien, noticias de, ultimas noticias, periodico digital, diario digital,
            ultime notizie, quotidiano online, laatste nieuws, nieuws uit, wiadomosci, publishing house, verlag,
            maison d'edition, casa editrice, новости, ニュースサイト, 新闻网""",
    "Realtor": """
        real estate agency, real estate agent, real estate agents, real estate broker, realtor, realtors, realty,
            estate agents, estate agent, homes for sale, property management, letting agents, immobilienmakler,
            immobilien, hausverwaltung, agence immobiliere, immobilier, annonces immobilieres, inmobiliaria,
            bienes raices, agencia inmobiliaria, imobiliaria, imoveis, agenzia immobiliare, immobiliare,
            case in vendita, makelaar, makelaardij, nieruchomosci, biuro nieruchomosci, maklare, eiendomsmegler,
            недвижимость, 不動産, 房地产 = real_estate""",
    "SaaS": """
        crm software, crm platform, sales crm, logiciel crm, software crm = crm
        help desk software, helpdesk software, customer support software, customer service software,
            live chat software = customer_support
        analytics platform, web analytics, product analytics, business intelligence software,
            analytics software = analytics
        email marketing software, email marketing platform, newsletter software,
            logiciel emailing = email_marketing
        booking software, booking system, scheduling software, appointment scheduling, buchungssoftware,
            terminbuchung software, logiciel de reservation, software de reservas = booking_calendar
        ecommerce platform, e commerce platform, shopsystem = ecommerce
        payment gateway, payment platform, payment processing, online payments, payment solutions = payments
        website builder, homepage baukasten, landing page builder, createur de site = website_builder
        headless cms, content management system, cms software = cms
        security platform, endpoint security, threat detection, cyber security software,
            identity platform = cybersecurity
        web hosting, cloud hosting, vps hosting, managed hosting, webhosting, hebergement web, hosting provider,
            domain registration, dedicated servers = hosting_server_environment
        cloud platform, cloud infrastructure = cloud_providers
        marketing automation, marketing platform, marketing software = marketing
        lead generation software, lead generation platform, sales intelligence = lead_generation
        social media management, social media scheduling = social_media_marketing
        seo software, seo tool, seo tools, rank tracker = seo_structured_data
        ai platform, ai assistant, ai powered platform, ai agents, ki plattform = artificial_intelligence
        saas, saas platform, software as a, cloud based software, cloud software, project management software,
            erp software, hr software, accounting software, payroll software, start free trial, no credit card,
            request a demo, book a demo, kostenlos testen, demo anfordern, essai gratuit, prueba gratuita,
            teste gratis, prova gratuita""",
    "Enterprise": """
        global leader in, fortune 500, investor relations, group of companies, weltweit fuhrend, weltmarktfuhrer,
            leader mondial, lider mundial, leader mondiale""",
}
# Offers that say nothing about the kind of business.

# Of languages that the phrases above do not have. Words of titles: "tandlæge i Odense", "ubytování v Lokti".
_MORE = {
    "Healthcare": """
        clinique dentaire, clinique, cabinet medical, kine, osteopathe, orthophoniste, consultorio dental,
        tandlakare, tandlaege, tannlege, hammaslaakari, zubar, zubni ordinace, zubna ambulancia, fogorvos,
        fogaszat, stomatolog, stomatologia, cabinet stomatologic, стоматолог, стоматология, стоматологія,
        зъболекар, dis hekimi, dis klinigi, οδοντιατρειο, οδοντιατρος, ιατρειο, ιατρος, φυσικοθεραπεια,
        רופא שיניים, מרפאה, מרפאת שיניים, عيادات, عيادة, عيادات طب الاسنان, طب الاسنان, مجمع طبي, مستشفى, 치과,
        병원, 한의원, nha khoa, phong kham, klinik gigi, dokter gigi, คลินิก, ทันตกรรม, 牙科, 诊所, 診所, 整骨院,
        小児科, 内科, 皮膚科, hudklinik, hudkliniken, hudlakare, vardcentral, lakare, laege, lege, fysioterapi,
        fysioterapeut, fysioterapia, laakariasema, ordinace, ambulancia, rendelo, magánrendelo, klinika, poliklinika,
        gabinet stomatologiczny, przychodnia, fizjoterapia, fizioterapija, kineziterapija, zobarstnieciba,
        hambaravi, odontologija, weterynarz, veterinar, allatorvos, veteriner, ветклиника, apotheke, pharmacie,
        farmacia, apteka, lekarna, gyogyszertar, apotek, apteekki, eczane, аптека, 薬局""",
    "Hospitality": """
        penzion, ubytovani, ubytovanie, hospoda, restaurace, restauracia, hostinec, szallas, vendeghaz, panzio,
        etterem, pensiune, cazare, restaurant, ресторан, гостиница, отель, гостевой дом, готель, садиба, кафе,
        къща за гости, хотел, механа, otel, pansiyon, lokanta, restoran, kafe, ταβερνα, ξενοδοχειο,
        ενοικιαζομενα, ενοικιαζομενα δωματια, εστιατοριο, διαμερισματα, מסעדה, צימרים, צימר, מלון, فندق, مطعم,
        شقق فندقية, مقهى, 호텔, 펜션, 게스트하우스, 식당, 카페, khach san, nha nghi, nha hang, homestay, penginapan,
        rumah makan, resort, โรงแรม, รีสอร์ท, ร้านอาหาร, ที่พัก, 民宿, 飯店, 餐廳, 宾馆, vandrarhem, vardshus, krog,
        gaestgiveri, bondegardsferie, gjestehus, overnatting, majoitus, ravintola, kahvila, apartmani, konoba,
        gostilna, viesbutis, viesnica, hotell, puhkemaja, svecių namai, agriturismo, trattoria, osteria,
        pizzeria, locanda, pousada, turismo rural, casa rural, cortijo, taqueria, guest lodge, safari lodge,
        lodge, guesthouse, gites, gite, chambres d'hotes, auberge, brasserie, heuriger, gasthof, gasthaus,
        ferienwohnung, ferienwohnungen, bed and breakfast, tavern""",
    "Local Business": """
        oficina multimarca, oficina mecanica, mecanico, taller mecanico, fontanero, electricista, peluqueria,
        barberia, carpinteria, cerrajero, pintores, reformas, officina, carrozzeria, idraulico, elettricista,
        parrucchiere, falegnameria, fabbro, serralheria, canalizador, eletricista, cabeleireiro, encanador,
        loodgieter, elektricien, kapper, aannemer, schilder, hovenier, hydraulik, elektryk, fryzjer, stolarz,
        mechanik, warsztat, dekarz, instalater, instalatér, elektrikar, kadernictvi, truhlarstvi, autoservis,
        pokryvac, vizvezetek, villanyszerelo, fodrasz, autoszerviz, asztalos, instalator, frizerie, tamplarie,
        service auto, rormokare, rorlegger, vvs, elektriker, frisor, snickare, tomrer, malermester, bilverkstad,
        putkimies, sahkoasennus, parturi, kampaamo, autokorjaamo, υδραυλικος, ηλεκτρολογος, κομμωτηριο,
        συνεργειο, сантехник, электрик, парикмахерская, автосервис, салон красоты, перукарня, автосервіс,
        майстер, водопроводчик, tesisatci, elektrikci, kuafor, oto servis, berber, nakliyat, שרברב, אינסטלטור,
        חשמלאי, מספרה, מוסך, سباك, كهربائي, صالون, ورشة, 미용실, 인테리어, 배관, 정비, tho sua, tiem toc, sua chua,
        bengkel, ช่าง, ร้านเสริมสวย, 塗装, リフォーム, 水道, 整備, 装修, 維修, builders, bakery, garage, roofing, plumber,
        plumbing, electrician, hairdresser, barber, landscaping, cleaning services, painter, painters, joinery,
        carpenter, locksmith, florist, heating, boiler, weingut, weinbau, metzgerei, backerei, gartnerei,
        friseur, tischlerei, schreinerei, dachdecker, kfz werkstatt, autohaus, sanitar, heizung, boulangerie,
        coiffeur, menuiserie, plombier, couvreur, macelleria, panificio, padaria, panaderia""",
    "Firm": """
        kancelaria, kancelaria radcy prawnego, kancelaria adwokacka, radca prawny, adwokat, advokat,
        advokatni kancelar, advokatska kancelaria, ugyved, ugyvedi iroda, avocat, cabinet de avocat,
        advokatbyra, advokatfirma, asianajotoimisto, δικηγορος, δικηγορικο γραφειο, λογιστης, λογιστικο γραφειο,
        адвокат, юрист, бухгалтер, адвокатско дружество, avukat, avukatlik burosu, hukuk burosu, mali musavir,
        עורך דין, משרד עורכי דין, רואה חשבון, محامي, مكتب محاماة, 법무법인, 법률사무소, 세무사, 회계법인, luat su,
        van phong luat, kantor hukum, notaris, ทนายความ, สำนักงานกฎหมาย, 律师事务所, 律師, 法律事務所,
        司法書士, 行政書士, bokforing, revisor, regnskap, tilitoimisto, ucetni, uctovnictvi, konyvelo, contabilitate,
        biuro rachunkowe, odvjetnik, odvetnik, advokatas, bookkeeping, bookkeeper, accountant, accountants,
        solicitors, attorneys, architect, architects, steuerberater, rechtsanwalt, notariat, advocatenkantoor,
        notaio, commercialista, studio legale, abogados, abogado, advogados, contabilidade""",
    "Manufacturer": """
        producent, producent okien, manufacturer, manufacturer of, hersteller, hersteller von, fabrik,
        maschinenbau, anlagenbau, fordertechnik, werkzeugbau, metallbau, fabricant, fabrication, usine,
        fabricante, fabricante de, fabrica, fabbrica, produttore, produzione, fabriek, producent van, vyrobce,
        vyroba, vyrobca, gyarto, gyartas, producator, fabrica de, tillverkare, tillverkning, producent af,
        bryggeri, gardbryg, bryghus, produsent, valmistaja, tehdas, κατασκευαστης, εργοστασιο, βιοτεχνια,
        производитель, производство, завод, фабрика, виробник, виробництво, производител, imalat, uretici,
        fabrikasi, מפעל, יצרן, مصنع, صناعة, 제조, 제작소, 공장, xuong san xuat, xuong, nha san xuat, san xuat, pabrik,
        produsen, โรงงาน, ผู้ผลิต, 製作所, 製造, 工場, 制造, 製造商, proizvodac, proizvodnja, gamyba, razotajs, tootja,
        brewery, brouwerij, brasserie artisanale, 工厂, 加工厂""",
    "Education": """
        ecole, scuola, escola, escuela, colegio, colégio, skola, skole, koulu, iskola, scoala, σχολη,
        φροντιστηριο, σχολειο, школа, детский сад, автошкола, училище, okul, anaokulu, בית ספר, גן ילדים, مدرسة,
        معهد, روضة, 학원, 유치원, 어학원, sekolah, โรงเรียน, 学校, 塾, 幼儿园, materska skola, przedszkole, autoskola,
        driving lessons, tutoring, nursery school, montessori""",
    "Non-Profit": """
        food pantry, food bank, charity, foundation, hilfsverein, stiftung, fondation, fundacion, fondazione,
        fundacao, stichting, fundacja, nadace, nadacia, alapitvany, fundatia, stiftelse, stiftelsen, saatio,
        ιδρυμα, συλλογος, фонд, благодійний фонд, фондация, vakfi, dernegi, עמותה, جمعية, مؤسسة خيرية, 재단, 협회,
        yayasan, มูลนิธิ, 基金会, 基金會, 財団法人, animal shelter, animal rescue, community center, ngo, verein,
        association, asociacion, associazione, associacao""",
    "Realtor": """
        realitni kancelar, ingatlan, ingatlaniroda, imobiliare, agentie imobiliara, maklare, maklarfirma,
        ejendomsmaegler, eiendomsmegler, kiinteistonvalitys, μεσιτικο γραφειο, ακινητα, нерухомість, имоти,
        emlak, תיווך, נדלן, عقارات, 부동산, bat dong san, properti, อสังหาริมทรัพย์, 房產, nekretnine, nepremicnine,
        nekilnojamas turtas, makelaardij, makelaar, agence immobiliere, immobiliare, inmobiliaria, imobiliaria""",
    "SaaS": """
        cloud software, online software, scheduling software, rota planning, 클라우드, 소프트웨어, saas 서비스,
        クラウドサービス, 云服务, 软件, phan mem, облачный сервис, bulut yazilim, yazilim, programvara, ohjelmisto,
        oprogramowanie, szoftver""",
    "Financial Services": """
        ubezpieczenia, pojisteni, biztositas, asigurari, forsakring, forsikring, vakuutus, ασφαλειες,
        страхование, sigorta, ביטוח, تأمين, 보험, bao hiem, asuransi, ประกันภัย, 保険, 保险""",
}

_OFFERS = """
    cyber security services, cybersecurity services, penetration testing, it security, it sicherheit,
        cybersecurity, ciberseguridad, cybersecurite = cybersecurity
    seo services, search engine optimization, suchmaschinenoptimierung, referencement naturel, posicionamiento seo,
        posicionamiento web = seo_structured_data
    social media marketing, social media management = social_media_marketing
    email marketing, e mail marketing = email_marketing
    digital marketing, online marketing, content marketing, marketing digital, marketing services = marketing
    google ads, ppc management, paid search, media buying, facebook ads = advertising
    lead generation, leadgenerierung, generation de leads, generacion de leads = lead_generation
    machine learning, artificial intelligence, kunstliche intelligenz, intelligence artificielle,
        inteligencia artificial, intelligenza artificiale, generative ai, ai solutions = artificial_intelligence
    app development, mobile app development, app entwicklung, developpement d'applications = mobile_app
    web development, website design, web design, webentwicklung, creation de site, desarrollo web,
        realizzazione siti = website_builder
    managed cloud, cloud services, cloud migration, cloud computing = cloud_providers
    salesforce consulting, crm consulting, hubspot agency, crm implementation = crm
    wordpress development, wordpress agency, typo3 agentur, wordpress agentur = cms
    ecommerce development, shopify agency, shopify development, shopware agentur, magento agency = ecommerce
    legal advice, legal services, rechtsberatung, conseil juridique, asesoria juridica,
        consulenza legale = legal_service
    online booking, book an appointment, book appointment, termin buchen, termin vereinbaren, online terminbuchung,
        online termin, prendre rendez vous, pedir cita, prenota online, agendar consulta = booking_calendar
"""


def _lines(text: str) -> list[tuple[list[str], str]]:
    """Phrases and category of each entry."""
    found = []
    for entry in _entries(text):
        phrases, _, category = entry.partition("=")
        found.append(([phrase.strip() for phrase in phrases.split(",")], category.strip()))
    return found


def _entries(text: str) -> list[str]:
    """An entry continues after a line that ends in a comma."""
    entries = [""]
    for line in filter(None, map(str.strip, text.split("\n"))):
        if entries[-1] and not entries[-1].endswith(","):
            entries.append("")
        entries[-1] += f" {line}" if entries[-1] else line
    return entries


Meaning = tuple[str, str]
"""Service type, category; either may be ""."""


def _table() -> dict[str, set[Meaning]]:
    table: dict[str, set[Meaning]] = {}
    for service_type, text in [*_SERVICE_TYPES.items(), *_MORE.items(), ("", _OFFERS)]:
        for phrases, category in _lines(text):
            for phrase in phrases:
                table.setdefault(fold(phrase), set()).add((service_type, category))
    return table


PHRASES: dict[str, set[Meaning]] = _table()
FIRST_WORDS = frozenset(phrase.split()[0] for phrase in PHRASES)
