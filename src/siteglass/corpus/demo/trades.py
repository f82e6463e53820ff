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
    offers: tuple[str, ...]
    keywords: tuple[str, ...]
    labels: tuple[str, ...]
    """The trade's name in each of LANGUAGES."""

    def label(self, language: str) -> str:
        """The trade's name in a language, English where there is none."""
        return self.labels[LANGUAGES.index(language)] if language in LANGUAGES else self.labels[0]


# service type | weight | word in names | offers | keywords | name in each language
_TABLE = """
Local Business | 7 | Plumbing | | emergency plumber, drain cleaning, water heater, leak detection, pipe repair, boiler service, bathroom renovation, sewer line, sump pump | plumbing and heating; Sanitär und Heizung; plomberie et chauffage; fontanería y calefacción; encanamento e aquecimento; idraulica e riscaldamento; loodgieterswerk en verwarming; 水道工事; 管道维修
Local Business | 5 | Electric | | licensed electrician, panel upgrade, rewiring, EV charger installation, outdoor lighting, generator, smart home | electrical services; Elektroinstallation; électricité générale; instalaciones eléctricas; instalações elétricas; impianti elettrici; elektrotechniek; 電気工事; 电工服务
Local Business | 6 | Auto | | oil change, brake repair, tire service, engine diagnostics, used cars, car inspection, transmission, body shop | auto repair; Autowerkstatt; réparation automobile; taller mecánico; oficina mecânica; autofficina; autogarage; 自動車整備; 汽车维修
Local Business | 6 | Salon | booking_calendar | haircut, balayage, bridal hair, color correction, manicure, keratin treatment, barber, beard trim | hair and beauty; Friseur und Kosmetik; coiffure et beauté; peluquería y estética; cabeleireiro e estética; parrucchiere ed estetica; kapsalon; 美容室; 美容美发
Local Business | 4 | Bakery | | sourdough bread, wedding cakes, croissants, gluten free, fresh pastries, coffee, birthday cake, catering | artisan bakery; Bäckerei und Konditorei; boulangerie artisanale; panadería artesanal; padaria artesanal; panificio artigianale; ambachtelijke bakkerij; パン屋; 手工面包
Local Business | 4 | Landscaping | | lawn care, garden design, tree removal, irrigation, patio, snow removal, hedge trimming, retaining wall | landscaping and garden care; Garten- und Landschaftsbau; jardinage et paysagisme; jardinería y paisajismo; jardinagem e paisagismo; giardinaggio; hoveniersbedrijf; 造園; 园林绿化
Local Business | 3 | Fitness | booking_calendar | personal training, yoga classes, group fitness, gym membership, pilates, strength training, nutrition coaching | gym and fitness; Fitnessstudio; salle de sport; gimnasio; academia de ginástica; palestra; sportschool; フィットネスジム; 健身房
Local Business | 4 | Roofing | | roof replacement, gutter repair, storm damage, free estimate, metal roof, skylight, insulation, siding | roofing; Dachdeckerei; couverture et toiture; tejados y cubiertas; telhados e coberturas; coperture e tetti; dakdekker; 屋根工事; 屋顶工程
Local Business | 2 | Cleaning | booking_calendar | office cleaning, move out cleaning, window cleaning, carpet cleaning, deep clean, disinfection | cleaning services; Gebäudereinigung; services de nettoyage; servicios de limpieza; serviços de limpeza; impresa di pulizie; schoonmaakbedrijf; 清掃サービス; 保洁服务
Ecommerce | 4 | Outfitters | ecommerce | hiking boots, tents, backpacks, camping gear, free shipping, trail running, climbing, sleeping bags | outdoor gear; Outdoor-Ausrüstung; équipement de plein air; equipo de montaña; equipamento ao ar livre; attrezzatura outdoor; outdooruitrusting; アウトドア用品; 户外装备
Ecommerce | 4 | Skincare | ecommerce | organic skincare, face serum, vegan cosmetics, cruelty free, moisturizer, sunscreen, gift set | natural skincare; Naturkosmetik; cosmétique naturelle; cosmética natural; cosmética natural; cosmetica naturale; natuurlijke huidverzorging; 自然派化粧品; 天然护肤
Ecommerce | 4 | Jewelry | ecommerce, payments | engagement rings, handmade jewelry, silver necklace, gold earrings, lab grown diamonds, bracelets, gift cards | handmade jewelry; Schmuck; bijoux faits main; joyería artesanal; joias artesanais; gioielli artigianali; handgemaakte sieraden; アクセサリー; 珠宝首饰
Ecommerce | 4 | Coffee | ecommerce | coffee beans, single origin, espresso, subscription, cold brew, fair trade, grinder, roasted to order | coffee roasting; Kaffeerösterei; torréfaction de café; café de especialidad; cafés especiais; torrefazione caffè; koffiebranderij; コーヒー豆; 精品咖啡
Ecommerce | 4 | Pets | ecommerce | dog food, cat toys, pet supplements, leashes, grain free, aquarium, pet beds, autoship | pet supplies; Tierbedarf; animalerie; productos para mascotas; produtos para pets; articoli per animali; dierenbenodigdheden; ペット用品; 宠物用品
Ecommerce | 4 | Furniture | ecommerce, payments | sofas, dining tables, office chairs, solid wood, home decor, bed frames, lighting, free returns | furniture and home decor; Möbel und Wohnen; mobilier et décoration; muebles y decoración; móveis e decoração; arredamento; meubelen en wonen; 家具インテリア; 家具家居
Ecommerce | 4 | Apparel | ecommerce | women's clothing, streetwear, organic cotton, plus size, new arrivals, sneakers, denim, size guide | fashion and apparel; Mode und Bekleidung; prêt-à-porter; moda y ropa; moda e vestuário; abbigliamento; mode en kleding; アパレル; 服装服饰
Ecommerce | 3 | Bikes | ecommerce | e-bikes, road bikes, bike parts, helmets, mountain bikes, bike service, cargo bikes | bicycles; Fahrräder und E-Bikes; vélos et accessoires; bicicletas; bicicletas; biciclette; fietsen; 自転車; 自行车
SaaS | 3 | CRM | crm, lead_generation | sales pipeline, contact management, free trial, deal tracking, integrations, API, sales automation | CRM software; CRM-Software; logiciel CRM; software CRM; software CRM; software CRM; CRM-software; 顧客管理ソフト; 客户管理软件
SaaS | 3 | Analytics | analytics, artificial_intelligence | dashboards, product analytics, data warehouse, reporting, machine learning, API, free trial, data pipeline | analytics platform; Analyse-Plattform; plateforme d'analyse; plataforma de analítica; plataforma de análise; piattaforma di analisi; analyseplatform; データ分析; 数据分析平台
SaaS | 3 | Desk | customer_support, artificial_intelligence | help desk, ticketing, live chat, knowledge base, AI assistant, SLA, omnichannel, shared inbox | help desk software; Helpdesk-Software; logiciel de support client; software de atención al cliente; software de atendimento; software di assistenza; helpdesksoftware; ヘルプデスク; 客服系统
SaaS | 2 | Payroll | payments | payroll, time tracking, onboarding, compliance, HR software, expense reports, benefits, direct deposit | payroll and HR software; Lohn- und HR-Software; logiciel de paie; software de nóminas; software de folha de pagamento; software paghe; salarissoftware; 給与計算ソフト; 薪资软件
SaaS | 2 | Secure | cybersecurity | threat detection, endpoint security, SOC 2, single sign-on, penetration testing, zero trust, audit log | security software; Sicherheitssoftware; logiciel de cybersécurité; software de ciberseguridad; software de segurança; software di sicurezza; beveiligingssoftware; セキュリティソフト; 安全软件
SaaS | 2 | Mailer | email_marketing, marketing | newsletter, email campaigns, automation, drag and drop editor, segmentation, deliverability, A/B testing | email marketing platform; Newsletter-Software; plateforme d'emailing; plataforma de email marketing; plataforma de e-mail marketing; piattaforma email marketing; e-mailmarketing; メール配信; 邮件营销平台
Agency | 4 | Digital | marketing, advertising, seo_structured_data | SEO, PPC, digital marketing agency, content strategy, conversion rate, case studies, link building | digital marketing agency; Digitalagentur; agence digitale; agencia de marketing digital; agência de marketing digital; agenzia digitale; digitaal marketingbureau; デジタルマーケティング; 数字营销
Agency | 4 | Studio | website_builder, cms, ecommerce | web design, branding, UX design, WordPress development, logo design, e-commerce development, prototypes | web design studio; Webdesign-Agentur; studio de création web; estudio de diseño web; estúdio de web design; studio di web design; webdesignbureau; ウェブ制作; 网站设计
Agency | 2 | Social | social_media_marketing, advertising | social media management, influencer marketing, content creation, community management, short video, paid social | social media agency; Social-Media-Agentur; agence social media; agencia de redes sociales; agência de redes sociais; agenzia social media; socialmediabureau; SNS運用; 社交媒体营销
Agency | 2 | Leads | lead_generation, email_marketing, crm | lead generation, cold email, appointment setting, outbound sales, B2B leads, sales development | lead generation agency; Agentur für Leadgenerierung; agence de génération de leads; agencia de captación de clientes; agência de geração de leads; agenzia di lead generation; leadgeneratiebureau; リード獲得; 获客服务
Consultant | 3 | Advisory | analytics | management consulting, strategy, process improvement, change management, workshops, digital transformation | management consulting; Unternehmensberatung; conseil en management; consultoría de gestión; consultoria de gestão; consulenza aziendale; managementadvies; 経営コンサルティング; 管理咨询
Consultant | 2 | Consulting | artificial_intelligence, crm | IT consulting, cloud migration, AI adoption, Salesforce consulting, data strategy, managed services | IT consulting; IT-Beratung; conseil informatique; consultoría informática; consultoria de TI; consulenza informatica; IT-advies; ITコンサルティング; 信息技术咨询
Firm | 4 | Law | legal_service | family law, personal injury, estate planning, business law, free consultation, immigration, attorneys | law firm; Rechtsanwälte; cabinet d'avocats; despacho de abogados; escritório de advocacia; studio legale; advocatenkantoor; 法律事務所; 律师事务所
Firm | 3 | Accounting | | tax preparation, bookkeeping, payroll, audit, small business accounting, CPA, tax planning | accounting firm; Steuerberatung; cabinet comptable; asesoría fiscal; escritório de contabilidade; studio commercialista; accountantskantoor; 会計事務所; 会计师事务所
Firm | 2 | Architects | | residential architecture, interior design, planning permission, sustainable building, 3D rendering, renovation | architecture firm; Architekturbüro; cabinet d'architecture; estudio de arquitectura; escritório de arquitetura; studio di architettura; architectenbureau; 建築設計; 建筑设计
Realtor | 4 | Realty | | homes for sale, luxury homes, property management, apartments for rent, open house, first time buyer, listings | real estate agency; Immobilienmakler; agence immobilière; inmobiliaria; imobiliária; agenzia immobiliare; makelaar; 不動産; 房地产中介
Healthcare | 5 | Dental | booking_calendar | dentist, dental implants, teeth whitening, invisible braces, root canal, new patients, pediatric dentistry | dental clinic; Zahnarztpraxis; cabinet dentaire; clínica dental; clínica odontológica; studio dentistico; tandartspraktijk; 歯科医院; 牙科诊所
Healthcare | 4 | Physio | booking_calendar | physiotherapy, sports injury, back pain, massage therapy, rehabilitation, online booking, chiropractor | physiotherapy clinic; Physiotherapie; cabinet de kinésithérapie; clínica de fisioterapia; clínica de fisioterapia; studio di fisioterapia; fysiotherapie; 整骨院; 理疗诊所
Healthcare | 3 | Clinic | booking_calendar | family medicine, telehealth, vaccinations, pediatrics, walk-in clinic, laboratory, dermatology | medical clinic; Arztpraxis; centre médical; clínica médica; clínica médica; ambulatorio medico; huisartsenpraktijk; クリニック; 综合门诊
Hospitality | 4 | Hotel | booking_calendar | boutique hotel, breakfast included, book direct, spa, family rooms, conference rooms, sea view, pet friendly | boutique hotel; Hotel; hôtel de charme; hotel con encanto; hotel boutique; albergo; boetiekhotel; ホテル; 精品酒店
Hospitality | 5 | Kitchen | booking_calendar | restaurant, menu, reservations, takeaway, private dining, vegan options, wine list, brunch, catering | restaurant; Restaurant; restaurant; restaurante; restaurante; ristorante; restaurant; レストラン; 餐厅
Manufacturer | 4 | Precision | | CNC machining, sheet metal, prototyping, ISO 9001, injection molding, OEM, tolerances, tooling | precision manufacturing; Präzisionsfertigung; mécanique de précision; mecanizado de precisión; usinagem de precisão; meccanica di precisione; precisiebewerking; 精密加工; 精密制造
Manufacturer | 3 | Packaging | | corrugated boxes, custom packaging, labels, sustainable packaging, food grade, minimum order, wholesale | packaging manufacturer; Verpackungen; fabricant d'emballages; fabricante de envases; fabricante de embalagens; imballaggi industriali; verpakkingen; 包装資材; 包装制造
Manufacturer | 3 | Valves | | industrial valves, pumps, hydraulic fittings, spare parts, datasheet, stainless steel, distributors | valves and fittings; Armaturen und Ventile; robinetterie industrielle; válvulas industriales; válvulas industriais; valvole industriali; afsluiters en kleppen; バルブ製造; 阀门制造
Education | 4 | Academy | | online courses, tutoring, exam preparation, language courses, certificates, enrollment, summer camp | training academy; Bildungsakademie; centre de formation; academia de formación; escola de cursos; centro di formazione; opleidingscentrum; 学習塾; 培训学校
Education | 3 | School | | admissions, curriculum, boarding, parents, primary school, open day, scholarship, extracurricular | private school; Privatschule; école privée; colegio privado; colégio particular; scuola privata; particuliere school; 私立学校; 私立学校
Non-Profit | 4 | Foundation | | donate, volunteer, community programs, annual report, fundraising, food bank, scholarships, impact | charitable foundation; gemeinnützige Stiftung; fondation caritative; fundación benéfica; fundação beneficente; fondazione benefica; goede doelen; 慈善団体; 慈善基金会
Government | 3 | Council | | public notices, permits, city council meeting, waste collection, parks, tenders, elections, town hall | municipal services; Gemeindeverwaltung; services municipaux; servicios municipales; serviços municipais; servizi comunali; gemeentelijke diensten; 市役所; 政府服务
Financial Services | 3 | Wealth | | wealth management, retirement planning, mutual funds, fiduciary, financial advisor, portfolio, tax planning | wealth management; Vermögensverwaltung; gestion de patrimoine; gestión de patrimonio; gestão de patrimônio; gestione patrimoniale; vermogensbeheer; 資産運用; 财富管理
Financial Services | 3 | Insurance | lead_generation | car insurance, home insurance, life insurance, get a quote, claims, business insurance, health insurance | insurance brokerage; Versicherungsmakler; courtage en assurances; correduría de seguros; corretora de seguros; broker assicurativo; verzekeringen; 保険代理店; 保险经纪
Publisher | 4 | Journal | advertising | local news, opinion, newsletter, subscribe, podcast, politics, sports, press releases | news magazine; Nachrichtenmagazin; magazine d'actualité; revista de noticias; portal de notícias; rivista di notizie; nieuwsmagazine; ニュースマガジン; 新闻杂志
Publisher | 3 | Recipes | advertising | recipes, travel tips, parenting, affiliate links, product reviews, lifestyle blog, meal plan | lifestyle blog; Lifestyle-Blog; blog lifestyle; blog de estilo de vida; blog de estilo de vida; blog di lifestyle; lifestyleblog; ライフスタイルブログ; 生活博客
Marketplace | 3 | Market | ecommerce, payments | vendors, sellers, classifieds, buy and sell, listings, verified sellers, commission, escrow | online marketplace; Online-Marktplatz; place de marché; mercado en línea; marketplace; mercato online; online marktplaats; オンラインマーケット; 在线市场
Mobile App | 3 | App | artificial_intelligence | download the app, iOS, Android, push notifications, habit tracker, in-app purchases, screenshots | mobile app; Mobile App; application mobile; aplicación móvil; aplicativo móvel; app mobile; mobiele app; モバイルアプリ; 手机应用
Enterprise | 3 | Industries | | investor relations, sustainability report, global offices, supply chain, careers, leadership, press room | industrial group; Industriekonzern; groupe industriel; grupo industrial; grupo industrial; gruppo industriale; industriële groep; 総合企業グループ; 工业集团
Enterprise | 2 | Logistics | | freight forwarding, warehousing, customs clearance, container shipping, tracking, supply chain, last mile | logistics group; Logistikgruppe; groupe logistique; grupo logístico; grupo de logística; gruppo logistico; logistieke groep; 物流グループ; 物流集团
Entertainment | 3 | Events | booking_calendar | tickets, live music, concerts, festival, event planning, DJ, lineup, venue hire, wedding band | live events; Veranstaltungen; événements et concerts; eventos en vivo; eventos ao vivo; eventi dal vivo; evenementen; イベント企画; 演出活动
Gaming | 3 | Games | payments | indie games, early access, patch notes, multiplayer, esports, discord community, wishlist, gameplay | game studio; Spielestudio; studio de jeux vidéo; estudio de videojuegos; estúdio de jogos; studio di videogiochi; gamestudio; ゲームスタジオ; 游戏工作室
"""  # noqa: E501 - a row of the table is a line


def _split(text: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark) if part.strip())


@cache
def trades() -> tuple[Trade, ...]:
    """All trades."""
    found = []
    for row in _TABLE.strip().splitlines():
        service_type, weight, word, offers, keywords, labels = (cell.strip() for cell in row.split("|"))
        found.append(
            Trade(service_type, float(weight), word, _split(offers, ","), _split(keywords, ","), _split(labels, ";"))
        )
    return tuple(found)
