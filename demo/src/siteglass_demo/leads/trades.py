"""Trades: what made-up businesses do, in which words and languages, and which kind of business they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh")


@dataclass(frozen=True, slots=True)
class Trade:
    """One line of work."""

    service_type: str
    weight: float
    word: str
    """How the trade shows in a business name and a domain."""
    ids: tuple[str, ...]
    """What it is in `query.trades`."""
    offers: tuple[str, ...]
    keywords: tuple[str, ...]
    labels: tuple[str, ...]
    """The trade's name in each of LANGUAGES."""

    def label(self, language: str) -> str:
        """The trade's name in a language, English where there is none."""
        return self.labels[LANGUAGES.index(language)] if language in LANGUAGES else self.labels[0]


# service type | weight | word in names | ids of trades | offers | keywords | name in each language
_TABLE = """
Local Business | 7 | Plumbing | plumber | | emergency plumber, drain cleaning, water heater, leak detection, pipe repair, boiler service, bathroom renovation, sewer line, sump pump | plumbing and heating; Sanitär und Heizung; plomberie et chauffage; fontanería y calefacción; encanamento e aquecimento; idraulica e riscaldamento; loodgieterswerk en verwarming; 水道工事; 管道维修
Local Business | 5 | Electric | electrician | | licensed electrician, panel upgrade, rewiring, EV charger installation, outdoor lighting, generator, smart home | electrical services; Elektroinstallation; électricité générale; instalaciones eléctricas; instalações elétricas; impianti elettrici; elektrotechniek; 電気工事; 电工服务
Local Business | 6 | Auto | car_repair | | oil change, brake repair, tire service, engine diagnostics, used cars, car inspection, transmission, body shop | auto repair; Autowerkstatt; réparation automobile; taller mecánico; oficina mecânica; autofficina; autogarage; 自動車整備; 汽车维修
Local Business | 6 | Salon | hairdresser | booking_calendar | haircut, balayage, bridal hair, color correction, manicure, keratin treatment, barber, beard trim | hair and beauty; Friseur und Kosmetik; coiffure et beauté; peluquería y estética; cabeleireiro e estética; parrucchiere ed estetica; kapsalon; 美容室; 美容美发
Local Business | 4 | Bakery | bakery | | sourdough bread, wedding cakes, croissants, gluten free, fresh pastries, coffee, birthday cake, catering | artisan bakery; Bäckerei und Konditorei; boulangerie artisanale; panadería artesanal; padaria artesanal; panificio artigianale; ambachtelijke bakkerij; パン屋; 手工面包
Local Business | 4 | Landscaping | landscaper | | lawn care, garden design, tree removal, irrigation, patio, snow removal, hedge trimming, retaining wall | landscaping and garden care; Garten- und Landschaftsbau; jardinage et paysagisme; jardinería y paisajismo; jardinagem e paisagismo; giardinaggio; hoveniersbedrijf; 造園; 园林绿化
Local Business | 3 | Fitness | gym | booking_calendar | personal training, yoga classes, group fitness, gym membership, pilates, strength training, nutrition coaching | gym and fitness; Fitnessstudio; salle de sport; gimnasio; academia de ginástica; palestra; sportschool; フィットネスジム; 健身房
Local Business | 4 | Roofing | roofer | | roof replacement, gutter repair, storm damage, free estimate, metal roof, skylight, insulation, siding | roofing; Dachdeckerei; couverture et toiture; tejados y cubiertas; telhados e coberturas; coperture e tetti; dakdekker; 屋根工事; 屋顶工程
Local Business | 2 | Cleaning | cleaning_service | booking_calendar | office cleaning, move out cleaning, window cleaning, carpet cleaning, deep clean, disinfection | cleaning services; Gebäudereinigung; services de nettoyage; servicios de limpieza; serviços de limpeza; impresa di pulizie; schoonmaakbedrijf; 清掃サービス; 保洁服务
Ecommerce | 4 | Outfitters | outdoor_shop | ecommerce | hiking boots, tents, backpacks, camping gear, free shipping, trail running, climbing, sleeping bags | outdoor gear; Outdoor-Ausrüstung; équipement de plein air; equipo de montaña; equipamento ao ar livre; attrezzatura outdoor; outdooruitrusting; アウトドア用品; 户外装备
Ecommerce | 4 | Skincare | skincare_shop | ecommerce | organic skincare, face serum, vegan cosmetics, cruelty free, moisturizer, sunscreen, gift set | natural skincare; Naturkosmetik; cosmétique naturelle; cosmética natural; cosmética natural; cosmetica naturale; natuurlijke huidverzorging; 自然派化粧品; 天然护肤
Ecommerce | 4 | Jewelry | jewelry_store | ecommerce, payments | engagement rings, handmade jewelry, silver necklace, gold earrings, lab grown diamonds, bracelets, gift cards | handmade jewelry; Schmuck; bijoux faits main; joyería artesanal; joias artesanais; gioielli artigianali; handgemaakte sieraden; アクセサリー; 珠宝首饰
Ecommerce | 4 | Coffee | coffee_roaster | ecommerce | coffee beans, single origin, espresso, subscription, cold brew, fair trade, grinder, roasted to order | coffee roasting; Kaffeerösterei; torréfaction de café; café de especialidad; cafés especiais; torrefazione caffè; koffiebranderij; コーヒー豆; 精品咖啡
Ecommerce | 4 | Pets | pet_shop | ecommerce | dog food, cat toys, pet supplements, leashes, grain free, aquarium, pet beds, autoship | pet supplies; Tierbedarf; animalerie; productos para mascotas; produtos para pets; articoli per animali; dierenbenodigdheden; ペット用品; 宠物用品
Ecommerce | 4 | Furniture | furniture_store | ecommerce, payments | sofas, dining tables, office chairs, solid wood, home decor, bed frames, lighting, free returns | furniture and home decor; Möbel und Wohnen; mobilier et décoration; muebles y decoración; móveis e decoração; arredamento; meubelen en wonen; 家具インテリア; 家具家居
Ecommerce | 4 | Apparel | clothing_store | ecommerce | women's clothing, streetwear, organic cotton, plus size, new arrivals, sneakers, denim, size guide | fashion and apparel; Mode und Bekleidung; prêt-à-porter; moda y ropa; moda e vestuário; abbigliamento; mode en kleding; アパレル; 服装服饰
Ecommerce | 3 | Bikes | bicycle_shop | ecommerce | e-bikes, road bikes, bike parts, helmets, mountain bikes, bike service, cargo bikes | bicycles; Fahrräder und E-Bikes; vélos et accessoires; bicicletas; bicicletas; biciclette; fietsen; 自転車; 自行车
SaaS | 3 | CRM | saas_company | crm, lead_generation | sales pipeline, contact management, free trial, deal tracking, integrations, API, sales automation | CRM software; CRM-Software; logiciel CRM; software CRM; software CRM; software CRM; CRM-software; 顧客管理ソフト; 客户管理软件
SaaS | 3 | Analytics | saas_company, data_analytics_company | analytics, artificial_intelligence | dashboards, product analytics, data warehouse, reporting, machine learning, API, free trial, data pipeline | analytics platform; Analyse-Plattform; plateforme d'analyse; plataforma de analítica; plataforma de análise; piattaforma di analisi; analyseplatform; データ分析; 数据分析平台
SaaS | 3 | Desk | saas_company | customer_support, artificial_intelligence | help desk, ticketing, live chat, knowledge base, AI assistant, SLA, omnichannel, shared inbox | help desk software; Helpdesk-Software; logiciel de support client; software de atención al cliente; software de atendimento; software di assistenza; helpdesksoftware; ヘルプデスク; 客服系统
SaaS | 2 | Payroll | saas_company | payments | payroll, time tracking, onboarding, compliance, HR software, expense reports, benefits, direct deposit | payroll and HR software; Lohn- und HR-Software; logiciel de paie; software de nóminas; software de folha de pagamento; software paghe; salarissoftware; 給与計算ソフト; 薪资软件
SaaS | 2 | Secure | cybersecurity_company, saas_company | cybersecurity | threat detection, endpoint security, SOC 2, single sign-on, penetration testing, zero trust, audit log | security software; Sicherheitssoftware; logiciel de cybersécurité; software de ciberseguridad; software de segurança; software di sicurezza; beveiligingssoftware; セキュリティソフト; 安全软件
SaaS | 2 | Mailer | saas_company | email_marketing, marketing | newsletter, email campaigns, automation, drag and drop editor, segmentation, deliverability, A/B testing | email marketing platform; Newsletter-Software; plateforme d'emailing; plataforma de email marketing; plataforma de e-mail marketing; piattaforma email marketing; e-mailmarketing; メール配信; 邮件营销平台
Agency | 4 | Digital | marketing_agency | marketing, advertising, seo_structured_data | SEO, PPC, digital marketing agency, content strategy, conversion rate, case studies, link building | digital marketing agency; Digitalagentur; agence digitale; agencia de marketing digital; agência de marketing digital; agenzia digitale; digitaal marketingbureau; デジタルマーケティング; 数字营销
Agency | 4 | Studio | web_design_agency | website_builder, cms, ecommerce | web design, branding, UX design, WordPress development, logo design, e-commerce development, prototypes | web design studio; Webdesign-Agentur; studio de création web; estudio de diseño web; estúdio de web design; studio di web design; webdesignbureau; ウェブ制作; 网站设计
Agency | 2 | Social | social_media_agency | social_media_marketing, advertising | social media management, influencer marketing, content creation, community management, short video, paid social | social media agency; Social-Media-Agentur; agence social media; agencia de redes sociales; agência de redes sociais; agenzia social media; socialmediabureau; SNS運用; 社交媒体营销
Agency | 2 | Leads | lead_generation_agency | lead_generation, email_marketing, crm | lead generation, cold email, appointment setting, outbound sales, B2B leads, sales development | lead generation agency; Agentur für Leadgenerierung; agence de génération de leads; agencia de captación de clientes; agência de geração de leads; agenzia di lead generation; leadgeneratiebureau; リード獲得; 获客服务
Consultant | 3 | Advisory | management_consultant | analytics | management consulting, strategy, process improvement, change management, workshops, digital transformation | management consulting; Unternehmensberatung; conseil en management; consultoría de gestión; consultoria de gestão; consulenza aziendale; managementadvies; 経営コンサルティング; 管理咨询
Consultant | 2 | Consulting | it_consultant | artificial_intelligence, crm | IT consulting, cloud migration, AI adoption, Salesforce consulting, data strategy, managed services | IT consulting; IT-Beratung; conseil informatique; consultoría informática; consultoria de TI; consulenza informatica; IT-advies; ITコンサルティング; 信息技术咨询
Firm | 4 | Law | law_firm | legal_service | family law, personal injury, estate planning, business law, free consultation, immigration, attorneys | law firm; Rechtsanwälte; cabinet d'avocats; despacho de abogados; escritório de advocacia; studio legale; advocatenkantoor; 法律事務所; 律师事务所
Firm | 3 | Accounting | accountant, tax_advisor | | tax preparation, bookkeeping, payroll, audit, small business accounting, CPA, tax planning | accounting firm; Steuerberatung; cabinet comptable; asesoría fiscal; escritório de contabilidade; studio commercialista; accountantskantoor; 会計事務所; 会计师事务所
Firm | 2 | Architects | architect | | residential architecture, interior design, planning permission, sustainable building, 3D rendering, renovation | architecture firm; Architekturbüro; cabinet d'architecture; estudio de arquitectura; escritório de arquitetura; studio di architettura; architectenbureau; 建築設計; 建筑设计
Realtor | 4 | Realty | real_estate_agency | | homes for sale, luxury homes, property management, apartments for rent, open house, first time buyer, listings | real estate agency; Immobilienmakler; agence immobilière; inmobiliaria; imobiliária; agenzia immobiliare; makelaar; 不動産; 房地产中介
Healthcare | 5 | Dental | dentist | booking_calendar | dentist, dental implants, teeth whitening, invisible braces, root canal, new patients, pediatric dentistry | dental clinic; Zahnarztpraxis; cabinet dentaire; clínica dental; clínica odontológica; studio dentistico; tandartspraktijk; 歯科医院; 牙科诊所
Healthcare | 4 | Physio | physiotherapist | booking_calendar | physiotherapy, sports injury, back pain, massage therapy, rehabilitation, online booking, chiropractor | physiotherapy clinic; Physiotherapie; cabinet de kinésithérapie; clínica de fisioterapia; clínica de fisioterapia; studio di fisioterapia; fysiotherapie; 整骨院; 理疗诊所
Healthcare | 3 | Clinic | clinic | booking_calendar | family medicine, telehealth, vaccinations, pediatrics, walk-in clinic, laboratory, dermatology | medical clinic; Arztpraxis; centre médical; clínica médica; clínica médica; ambulatorio medico; huisartsenpraktijk; クリニック; 综合门诊
Hospitality | 4 | Hotel | hotel | booking_calendar | boutique hotel, breakfast included, book direct, spa, family rooms, conference rooms, sea view, pet friendly | boutique hotel; Hotel; hôtel de charme; hotel con encanto; hotel boutique; albergo; boetiekhotel; ホテル; 精品酒店
Hospitality | 5 | Kitchen | restaurant | booking_calendar | restaurant, menu, reservations, takeaway, private dining, vegan options, wine list, brunch, catering | restaurant; Restaurant; restaurant; restaurante; restaurante; ristorante; restaurant; レストラン; 餐厅
Manufacturer | 4 | Precision | cnc_machining | | CNC machining, sheet metal, prototyping, ISO 9001, injection molding, OEM, tolerances, tooling | precision manufacturing; Präzisionsfertigung; mécanique de précision; mecanizado de precisión; usinagem de precisão; meccanica di precisione; precisiebewerking; 精密加工; 精密制造
Manufacturer | 3 | Packaging | packaging_manufacturer | | corrugated boxes, custom packaging, labels, sustainable packaging, food grade, minimum order, wholesale | packaging manufacturer; Verpackungen; fabricant d'emballages; fabricante de envases; fabricante de embalagens; imballaggi industriali; verpakkingen; 包装資材; 包装制造
Manufacturer | 3 | Valves | manufacturer | | industrial valves, pumps, hydraulic fittings, spare parts, datasheet, stainless steel, distributors | valves and fittings; Armaturen und Ventile; robinetterie industrielle; válvulas industriales; válvulas industriais; valvole industriali; afsluiters en kleppen; バルブ製造; 阀门制造
Education | 4 | Academy | vocational_school | | online courses, tutoring, exam preparation, language courses, certificates, enrollment, summer camp | training academy; Bildungsakademie; centre de formation; academia de formación; escola de cursos; centro di formazione; opleidingscentrum; 学習塾; 培训学校
Education | 3 | School | school | | admissions, curriculum, boarding, parents, primary school, open day, scholarship, extracurricular | private school; Privatschule; école privée; colegio privado; colégio particular; scuola privata; particuliere school; 私立学校; 私立学校
Non-Profit | 4 | Foundation | foundation | | donate, volunteer, community programs, annual report, fundraising, food bank, scholarships, impact | charitable foundation; gemeinnützige Stiftung; fondation caritative; fundación benéfica; fundação beneficente; fondazione benefica; goede doelen; 慈善団体; 慈善基金会
Government | 3 | Council | municipality | | public notices, permits, city council meeting, waste collection, parks, tenders, elections, town hall | municipal services; Gemeindeverwaltung; services municipaux; servicios municipales; serviços municipais; servizi comunali; gemeentelijke diensten; 市役所; 政府服务
Financial Services | 3 | Wealth | wealth_management | | wealth management, retirement planning, mutual funds, fiduciary, financial advisor, portfolio, tax planning | wealth management; Vermögensverwaltung; gestion de patrimoine; gestión de patrimonio; gestão de patrimônio; gestione patrimoniale; vermogensbeheer; 資産運用; 财富管理
Financial Services | 3 | Insurance | insurance_agency | lead_generation | car insurance, home insurance, life insurance, get a quote, claims, business insurance, health insurance | insurance brokerage; Versicherungsmakler; courtage en assurances; correduría de seguros; corretora de seguros; broker assicurativo; verzekeringen; 保険代理店; 保险经纪
Publisher | 4 | Journal | magazine | advertising | local news, opinion, newsletter, subscribe, podcast, politics, sports, press releases | news magazine; Nachrichtenmagazin; magazine d'actualité; revista de noticias; portal de notícias; rivista di notizie; nieuwsmagazine; ニュースマガジン; 新闻杂志
Publisher | 3 | Recipes | | advertising | recipes, travel tips, parenting, affiliate links, product reviews, lifestyle blog, meal plan | lifestyle blog; Lifestyle-Blog; blog lifestyle; blog de estilo de vida; blog de estilo de vida; blog di lifestyle; lifestyleblog; ライフスタイルブログ; 生活博客
Marketplace | 3 | Market | marketplace | ecommerce, payments | vendors, sellers, classifieds, buy and sell, listings, verified sellers, commission, escrow | online marketplace; Online-Marktplatz; place de marché; mercado en línea; marketplace; mercato online; online marktplaats; オンラインマーケット; 在线市场
Mobile App | 3 | App | | artificial_intelligence | download the app, iOS, Android, push notifications, habit tracker, in-app purchases, screenshots | mobile app; Mobile App; application mobile; aplicación móvil; aplicativo móvel; app mobile; mobiele app; モバイルアプリ; 手机应用
Enterprise | 3 | Industries | manufacturer | | investor relations, sustainability report, global offices, supply chain, careers, leadership, press room | industrial group; Industriekonzern; groupe industriel; grupo industrial; grupo industrial; gruppo industriale; industriële groep; 総合企業グループ; 工业集团
Enterprise | 2 | Logistics | logistics_company | | freight forwarding, warehousing, customs clearance, container shipping, tracking, supply chain, last mile | logistics group; Logistikgruppe; groupe logistique; grupo logístico; grupo de logística; gruppo logistico; logistieke groep; 物流グループ; 物流集团
Entertainment | 3 | Events | event_planner | booking_calendar | tickets, live music, concerts, festival, event planning, DJ, lineup, venue hire, wedding band | live events; Veranstaltungen; événements et concerts; eventos en vivo; eventos ao vivo; eventi dal vivo; evenementen; イベント企画; 演出活动
Gaming | 3 | Games | game_developer | payments | indie games, early access, patch notes, multiplayer, esports, discord community, wishlist, gameplay | game studio; Spielestudio; studio de jeux vidéo; estudio de videojuegos; estúdio de jogos; studio di videogiochi; gamestudio; ゲームスタジオ; 游戏工作室
"""  # noqa: E501 - a row of the table is a line


# Trades that replace others of the same kind for a share of their businesses. Everything else that is drawn for these
# businesses stays as it was, and so do all other leads. The columns:
# `word of the other, share | word in names | ids of trades | offers | keywords | name in each language`
_INSTEAD = """
Auto, 0.35 | Motors | car_dealer | | new cars, used cars, test drive, car financing, trade-in, certified pre-owned, SUV, electric cars | car dealership; Autohaus; concession automobile; concesionario de coches; concessionária de automóveis; concessionaria auto; autodealer; 自動車販売; 汽车销售
Fitness, 0.4 | Yoga | yoga_studio | booking_calendar | yoga classes, vinyasa, hatha yoga, meditation, prenatal yoga, yoga retreat, breathing, yoga workshop | yoga studio; Yogastudio; studio de yoga; centro de yoga; estúdio de yoga; centro yoga; yogastudio; ヨガスタジオ; 瑜伽馆
Bakery, 0.35 | Florist | florist | | fresh flowers, bouquets, wedding flowers, funeral flowers, flower delivery, roses, flower subscription | florist; Blumenladen; fleuriste; floristería; floricultura; fioraio; bloemenwinkel; 花屋; 花店
Landscaping, 0.4 | Photography | photographer | booking_calendar | wedding photography, portraits, newborn photos, product photography, photo studio, family photos, engagement shoot | photographer; Fotograf; photographe; fotógrafo; fotógrafo; fotografo; fotograaf; 写真スタジオ; 摄影工作室
Clinic, 0.4 | Vets | veterinarian | booking_calendar | pet vaccinations, dog dentistry, cat clinic, emergency vet, microchipping, neutering, animal surgery | veterinary clinic; Tierarztpraxis; clinique vétérinaire; clínica veterinaria; clínica veterinária; clinica veterinaria; dierenarts; 動物病院; 宠物医院
Kitchen, 0.15 | Brewing | brewery | | craft beer, taproom, IPA, lager, brewery tour, beer tasting, seasonal ales, beer garden | craft brewery; Brauerei; brasserie artisanale; cervecería artesanal; cervejaria artesanal; birrificio; brouwerij; ビール醸造所; 精酿啤酒厂
Hotel, 0.2 | Winery | winery | | wine tasting, red wine, vineyard tour, white wine, cellar door, wine club, organic wine, rosé | winery; Weingut; domaine viticole; bodega de vinos; vinícola; azienda vinicola; wijnhuis; ワイナリー; 葡萄酒庄
Consulting, 0.45 | Networks | it_services | | IT support, managed services, cloud backup, network installation, help desk, Microsoft 365, server maintenance | IT services; IT-Systemhaus; services informatiques; servicios informáticos; serviços de informática; servizi informatici; IT-dienstverlener; ITサポート; IT服务
Analytics, 0.4 | Software | software_company | | custom software, software development, API, web applications, agile, dedicated teams, legacy modernization | software company; Softwareunternehmen; éditeur de logiciels; empresa de software; empresa de software; società di software; softwarebedrijf; ソフトウェア開発; 软件公司
"""  # noqa: E501 - a row of the table is a line


def _split(text: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark) if part.strip())


def _trade(service_type: str, weight: float, cells: list[str]) -> Trade:
    word, ids, offers, keywords, labels = cells
    return Trade(
        service_type, weight, word, _split(ids, ","), _split(offers, ","), _split(keywords, ","), _split(labels, ";")
    )


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split("|")] for row in table.strip().splitlines()]


@cache
def trades() -> tuple[Trade, ...]:
    """The trades that are drawn."""
    return tuple(_trade(row[0], float(row[1]), row[2:]) for row in _rows(_TABLE))


@cache
def instead() -> dict[str, Trade]:
    """Word of a trade -> the one that takes the place of some of its businesses; its weight is the share."""
    kinds = {trade.word: trade.service_type for trade in trades()}
    found: dict[str, Trade] = {}
    for place, *cells in _rows(_INSTEAD):
        word, share = _split(place, ",")
        found[word] = _trade(kinds[word], float(share), cells)
    return found
