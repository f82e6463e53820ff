"""Words of addresses: those of roles ("info", "sales"), and mailers where anyone can have one."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

# Beside the words of roles.txt, see scripts/build_roles.py.
_OWN_ROLES = """
aanmelden aanvraag accueil achat achats acquisti adherents adhesion afspraak agence agendamento agenzia ajuda
amministratore anfrage anfragen angebot annahme apotheke asiakaspalvelu assicurazioni assistance assistenzaclienti
atelier atencion atencioncliente atencionclientes atendimentoaocliente auftrag ausbildung auskunft ayuda azubi balie
bauhof beratung bestelling bestellingen bestellungen bestilling bestuur bewerbung bewerbungen bilgi billetterie
boekhouding bonjour boutique buchung buero bureau cabinet candidaturas candidature candidatures centralino cita citas
clienti clients cnil cobranca cobros comercios commande commandes compra consulenza contactez contactformulier
contactos contas contatos contatti correo cotizacion cotizaciones curriculum cursos datenschutz
datenschutz-beauftragter datenschutzbeauftragter debiteuren demande departamento destek devis dialog directie
disposition documentacao dpo einkauf empfang empleo emploi emprego encomendas envios ertekesites escola eventi eventos
facturas facturation facturen faktura fakturace faleconosco fatturazione fatture financeira financien formation
formazione garage gare gdpr gemeinde geschaeftsfuehrung geschaeftsleitung geschaeftsstelle gestion gestoria giftshop
guestrelations guestservice hallo hausverwaltung hoteles hotellerie hotline iletisim immobilien imprensa impressum
info.commerciale informazioni informes infos inkoop inmobiliaria inschrijving inscription inscriptions iroda iscrizioni
juridique kantoor kanzlei kariera karriere kasse kfz klacht klachten klanten klantenservice kontakty kundenbetreuung
kundencenter kundendienst kundenservice kundtjanst kurse lager lavoro ledenadministratie legale leitung lgpd location
logistique loja magasin magazijn magazzino mairie marcacoes matricula matriculas merch mitglieder myynti negozio
nepasrepondre nicht-antworten no-answer no-responder notdienst obchod objednavky obsluga offerte offertes officina
oficinas ola onderhoud orcamento orcamentos ordine ordre ouvidoria partenaires partenariat pec pedido pedidos personal
personalabteilung personeel pochta posta praktijk praxis prenotazioni prensa pressestelle presupuesto presupuestos
preventivi privacidad privacidade privacypolicy prodaja producao produktion produzione proteccion protocolo publicidad
qualita rathaus recepcao recepce receptie rechnung rechnungen rechnungswesen reclamaciones reclamation reclamations
reclami recrutamento redactie redaktion rekrutacja rendeles reserveren reserveringen reservierung reservierungen
ressources-humaines rezeption rezerwacje rgpd ricambi risorseumane salg salj satis sav secretariageral secretariat sede
segreteria seguros serviceclients servico servicos servizioclienti siege sklep sollicitatie sollicitaties spedizioni
sprzedaz stampa standesamt sugerencias sugestoes taller technique tecnico telefonzentrale termin termine tienda
titkarsag toimisto trabajo trabalheconosco turnos ufficio ufficiostampa ufficiotecnico ugyfelszolgalat urp vanzari
vendite vente ventes verhuur verkoop vermietung versand vertrieb verwaltung vragen webshop welkom werbung werkplaats
werkstatt winkel zakazy zamowienia
vendor vendors desk helpdesk frontdesk dept department division unit committee board council returns resume resumes
estimates estimate quotes quote purchaseorder purchaseorders purchasing procurement inquiry inquiries enquiry
dining catering events groups parking housekeeping security lab laboratory imaging pharmacy nursing admissions
ward clinic surgery theatre parish parishoffice rectory library museum archive sport youth membership members
treasurer chair chairman chairperson president vicepresident director manager coordinator captain coach secretary
vorstand vorsitzender kassenwart schriftfuehrer jugendwart abteilung fachbereich amt amtsleitung buergerbuero
buergermeister bauamt ordnungsamt sozialamt stadtverwaltung kulturamt einwohnermeldeamt kita hort pflege pflegedienst
aufnahme patientenaufnahme ambulanz sprechstunde labor radiologie station stationsleitung hausmeister objektleitung
vorzimmer zentrale empfangsbuero anmeldung buchhaltung debitoren kreditoren disposition fuhrpark
maire secretariatmairie etatcivil urbanisme accueilmairie servicetechnique comptabilite rdv standard secretariatmedical
direction presidence tresorier president vicepresident benevolat adherent licences locations transactions syndic
gestionlocative copropriete alcaldia ayuntamiento registro intervencion tesoreria urbanismo citaprevia admisiones
consultas urgencias presidencia socios federacion alquileres alquiler ventasonline postventa atencionalpaciente
anagrafe protocollo tributi ragioneria ufficiotributi sindaco vigili polizialocale presidente direttore ambulatorio
prenotazione affitti amministrazione condomini soci tesseramento vendite acquisto camara presidencia tesouraria
licenciamento atendimento secretariaescolar urgencia locacao arrendamento administratie burgerzaken gemeentehuis
burgemeester penningmeester voorzitter balieafspraak huisarts assistente poli afdeling ledenservice makelaar
kommun kommunen borgerservice borgmester kommune kasserer kassor ordforande styrelsen styret styre formand formann
bokning bestallning lagenhet uthyrning utleie utlejning vastaanotto ajanvaraus kirjaamo puheenjohtaja hallitus
sihteeri kassa asiakas vuokraus myymala urzad sekretariat burmistrz wojt gmina starostwo rejestracja przychodnia
zarzad prezes skarbnik najem wynajem ksiegowosc kadry podatelna starosta obec mesto urad matrika ekonom ucetni
pokladna recepcia ordinace sestra predseda polgarmester hivatal jegyzo ugyintezo recepcio foglalas penzugy konyveles
elnok primaria registratura contabilitate programari receptie presedinte inchirieri dispecerat grammateia dimos
dimarxos protokollo logistirio rantevou krathseis priemnaya buhgalteria zakaz otdel sbyt snab kadry direktor
registratura zapis bron arenda muhasebe satinalma belediye baskan randevu rezervasyon yonetim kiralama
"""
# With these in front, whatever follows names a department or a place: "info-berlin", "sales.uk".
_LEADING = """
info infos contact contacto contato contatti kontakt kontakty sales support service services office mail email hello
noreply no-reply help billing jobs karriere careers press presse marketing hr admin buero bureau verkauf vertrieb
ventas vendas vendite vente accueil reception rezeption reservas reservations booking team shop store secretariat
sekretariat secretaria segreteria export import order orders bestellung customer
"""
# The mailers where people, and small firms, have addresses free of charge.
_FREE_MAILERS = """
12move.nl 126.com 139.com aon.at bahnhof.se bezeqint.net bredband.net btopenworld.com caramail.com casema.nl cegetel.net
centurylink.net clix.pt club-internet.fr cytanet.com.cy eircom.net elisanet.fi freeserve.co.uk frontier.com get2net.dk
globo.com gmx.es gmx.eu hetnet.nl hinet.net home.se iafrica.com iinet.net.au indigo.ie interfree.it internode.on.net
iol.ie iol.it iprimus.com.au kolumbus.fi libertysurf.fr lycos.com mail.dk mail.telepac.pt mindspring.com mweb.co.za
netcabo.pt netcologne.de netspace.net.au netvision.net.il nifty.com ono.com otenet.gr ozemail.com.au paradise.net.nz
pandora.be plusnet.com prodigy.net.mx quicknet.nl rr.com saunalahti.fi singnet.com.sg slingshot.co.nz speedy.com.ar
stofanet.dk suddenlink.net sunrise.ch swissonline.ch tdcadsl.dk telefonica.es telkomsa.net telstra.com tele2.se
tpg.com.au tiscalinet.it upcmail.nl versatel.nl vodamail.co.za vtr.net windstream.net wol.be yahoo.at yahoo.be yahoo.cn
yahoo.dk yahoo.fi ziggo.nl zonnet.be
126.com 139.com 163.com 21cn.com abv.bg alice.it aliyun.com aol.com aol.de arcor.de arnet.com.ar bigpond.com
bigpond.net.au bk.ru blueyonder.co.uk bluewin.ch bol.com.br btinternet.com centrum.cz charter.net chello.nl comcast.net
cox.net daum.net docomo.ne.jp earthlink.net email.com email.cz email.it ezweb.ne.jp fastmail.com fastmail.fm
foxmail.com free.fr freemail.hu freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.fr gmx.info gmx.net
googlemail.com hanmail.net hey.com home.nl hotmail.be hotmail.ca hotmail.ch hotmail.co.jp hotmail.co.uk hotmail.com
hotmail.com.ar hotmail.com.br hotmail.de hotmail.es hotmail.fr hotmail.it hotmail.nl hotmail.se hushmail.com icloud.com
ig.com.br inbox.com inbox.lv inbox.ru interia.pl inwind.it juno.com kpnmail.nl laposte.net libero.it list.ru live.at
live.be live.ca live.cl live.co.uk live.com live.com.ar live.com.au live.com.mx live.com.pt live.de live.dk live.fr
live.ie live.it live.nl live.no live.se mac.com mail.bg mail.com mail.de mail.ee mail.ru mailbox.org me.com msn.com
mynet.com nate.com naver.com neostrada.pl neuf.fr numericable.fr ntlworld.com o2.pl online.de online.no onet.eu onet.pl
optonline.net optusnet.com.au orange.fr outlook.at outlook.be outlook.co.uk outlook.com outlook.com.br outlook.de
outlook.es outlook.fr outlook.it outlook.jp outlook.pt planet.nl pm.me poczta.onet.pl post.cz posteo.de proton.me
protonmail.ch protonmail.com qq.com rambler.ru rediffmail.com rocketmail.com rogers.com sapo.pt sbcglobal.net seznam.cz
sfr.fr shaw.ca sina.cn sina.com sky.com skynet.be softbank.ne.jp sohu.com superonline.com sympatico.ca t-online.de
talktalk.net telefonica.net telenet.be telia.com telus.net terra.com terra.com.br terra.es tin.it tiscali.co.uk
tiscali.it tlen.pl tut.by tuta.com tutanota.com ukr.net unitybox.de uol.com.br verizon.net videotron.ca vip.qq.com
virgilio.it virginmedia.com vodafone.de voila.fr volny.cz wanadoo.fr web.de wp.pl xs4all.nl xtra.co.nz ya.ru yahoo.ca
yahoo.co.id yahoo.co.in yahoo.co.jp yahoo.co.kr yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.com yahoo.com.ar yahoo.com.au
yahoo.com.br yahoo.com.cn yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw
yahoo.com.vn yahoo.de yahoo.es yahoo.fr yahoo.gr yahoo.ie yahoo.it yahoo.nl yahoo.no yahoo.pl yahoo.ro yahoo.se
yandex.by yandex.com yandex.kz yandex.ru yandex.ua yeah.net ymail.com netvigator.com cogeco.ca zoho.com zonnet.nl
"""
_CERTIFIED = ("pec.", "legalmail.", "arubapec.", "postecert.", "pecimprese.")
_leading = frozenset(_LEADING.split())
_free_mailers = frozenset(_FREE_MAILERS.split())
_PARTS = re.compile(r"[._-]+")


@cache
def _roles() -> frozenset[str]:
    words = files("siteglass.corpus").joinpath("roles.txt").read_text(encoding="utf-8").split()
    return frozenset(words) | frozenset(_OWN_ROLES.split())


def is_role(address: str) -> bool:
    """Whether an address is that of a role, a department or a place rather than of a person."""
    local = address.lower().partition("@")[0].partition("+")[0]
    bare = local.rstrip("0123456789").rstrip("._-")
    roles = _roles()
    if not bare or local in roles or bare in roles:
        return True
    parts = _PARTS.split(bare)
    return len(parts) > 1 and (parts[0] in _leading or parts[-1] in _leading or all(part in roles for part in parts))


def is_role_word(word: str) -> bool:
    """Whether a part of an address names a role or a department."""
    return word in _roles()


def is_free_mail(address: str) -> bool:
    """Whether an address is at a mailer that anybody can have one of: its domain says nothing of its owner."""
    host = address.lower().rpartition("@")[2]
    # "pec.libero.it": certified mail of Italy, which every business there must have.
    return host in _free_mailers or host.partition(".")[2] in _free_mailers or host.startswith(_CERTIFIED)
