"""One level of states for each country, and which states postal codes are of.

Of some countries the vocabulary knows two levels: Kent and England, Paris and Île-de-France. Leads have the upper one,
in which it places cities. The codes are those of ISO 3166-2.
"""

from __future__ import annotations

from functools import cache

# Upper level -> the codes below it.
_PARTS: dict[str, dict[str, str]] = {
    "GBR": {
        "NIR": "ABC AND ANN BFS CCG DRS FMO LBC MEA MUL NMD",
        "WLS": "AGY BGE BGW CAY CGN CMN CRF CWY DEN FLN GWN MON MTY NTL NWP PEM POW RCT SWA TOF VGL WRX",
        "SCT": """ABD ABE AGB ANS CLK DGY DND EAY EDH EDU ELN ELS ERW FAL FIF GLG HLD IVC MLN MRY NAY NLK ORK PKN RFW
            SAY SCB SLK STG WDU WLN ZET""",
        "ENG": """BAS BBD BCP BDF BDG BEN BEX BIR BKM BNE BNH BNS BOL BPL BRC BRD BRY BST BUR CAM CBF CHE CHW CLD CMA
            CMD CON COV CRY DAL DBY DER DEV DNC DOR DUD DUR EAL ENF ERY ESS ESX GAT GLS GRE HAL HAM HAV HCK HEF HIL HMF
            HNS HPL HRT HRW HRY IOS IOW ISL KEC KEN KHL KIR KTT KWL LAN LBH LCE LDS LEC LEW LIN LIV LND LUT MAN MDB MDW
            MIK MRT NBL NEL NET NFK NGM NLN NNH NSM NTT NTY NWM NYK OLD OXF PLY POR PTE RCC RCH RDB RDG RIC ROT RUT SAW
            SFK SFT SGC SHF SHN SHR SKP SLF SLG SND SOL SOM SOS SRY STE STH STN STS STT STY SWD SWK TAM TFW THR TOB TRF
            TWH WAR WBK WFT WGN WIL WKF WLL WLV WND WNH WNM WOK WOR WRL WRT WSM WSX YOR""",
    },
    "FRA": {
        "ARA": "01 03 07 15 26 38 42 43 63 69 69M 73 74",
        "BFC": "21 25 39 58 70 71 89 90",
        "BRE": "22 29 35 56",
        "CVL": "18 28 36 37 41 45",
        "20R": "2A 2B",
        "GES": "08 10 51 52 54 55 57 67 68 6AE 88",
        "HDF": "02 59 60 62 80",
        "IDF": "75 75C 77 78 91 92 93 94 95",
        "NOR": "14 27 50 61 76",
        "NAQ": "16 17 19 23 24 33 40 47 64 79 86 87",
        "OCC": "09 11 12 30 31 32 34 46 48 65 66 81 82",
        "PDL": "44 49 53 72 85",
        "PAC": "04 05 06 13 83 84",
    },
    "ESP": {
        "AN": "AL CA CO GR H J MA SE",
        "AR": "HU TE Z",
        "AS": "O",
        "CN": "GC TF",
        "CB": "S",
        "CL": "AV BU LE P SA SG SO VA ZA",
        "CM": "AB CR CU GU TO",
        "CT": "B GI L T",
        "EX": "BA CC",
        "GA": "C LU OR PO",
        "IB": "PM",
        "RI": "LO",
        "MD": "M",
        "MC": "MU",
        "NC": "NA",
        "PV": "BI SS VI",
        "VC": "A CS V",
    },
    "ITA": {
        "21": "AL AT BI CN NO TO VB VC",
        "23": "AO",
        "25": "BG BS CO CR LC LO MB MI MN PV SO VA",
        "32": "BZ TN",
        "34": "BL PD RO TV VE VI VR",
        "36": "GO PN TS UD",
        "42": "GE IM SP SV",
        "45": "BO FC FE MO PC PR RA RE RN",
        "52": "AR FI GR LI LU MS PI PO PT SI",
        "55": "PG TR",
        "57": "AN AP FM MC PU",
        "62": "FR LT RI RM VT",
        "65": "AQ CH PE TE",
        "67": "CB IS",
        "72": "AV BN CE NA SA",
        "75": "BA BR BT FG LE TA",
        "77": "MT PZ",
        "78": "CS CZ KR RC VV",
        "82": "AG CL CT EN ME PA RG SR TP",
        "88": "CA CI NU OG OR OT SS SU VS",
    },
    "BEL": {"VLG": "VAN VBR VLI VOV VWV", "WAL": "WBR WHT WLG WLX WNA"},
    "IRL": {
        "C": "G LM MO RN SO",
        "L": "CW D KE KK LD LH LS MH OY WH WX WW",
        "M": "CE CO KY LK TA WD",
        "U": "CN DL MN",
    },
    # Cities with the right of a county.
    "HUN": {
        "BA": "PS", "BE": "BC", "BK": "KM", "BZ": "MI", "CS": "HV SD", "FE": "DU SF", "GS": "GY SN", "HB": "DE",
        "HE": "EG", "KE": "TB", "NO": "ST", "PE": "ER", "SO": "KV", "SZ": "NY", "TO": "SK SS", "VA": "SH", "VE": "VM",
        "ZA": "NK ZE",
    },
}  # fmt: skip
# The states that codes beginning so can be of. What is not listed may be of any.
_GERMAN = """
01:SN,BB 02:SN,BB 03:BB,SN 04:SN,ST,TH,BB 06:ST,SN,TH 07:TH,SN 08:SN,TH 09:SN,BB 10:BE 12:BE,BB 13:BE 14:BE,BB,ST
15:BB 16:BB,MV 17:MV,BB 18:MV 19:MV,BB,NI 20:HH 21:HH,NI,SH 22:HH,SH 23:SH,MV,NI 24:SH 25:SH,HH 26:NI,HB 27:NI,HB,HH
28:HB,NI 29:NI,ST 30:NI 31:NI 32:NW,NI 33:NW,NI 34:HE,NI,NW,TH 35:HE,NW,RP 36:HE,TH 37:NI,TH,HE,NW,ST 38:NI,ST
39:ST,BB,NI 40:NW 41:NW 42:NW 44:NW 45:NW 46:NW 47:NW 48:NW,NI 49:NI,NW 50:NW 51:NW,RP 52:NW 53:NW,RP 54:RP,SL,NW
55:RP,HE,SL 56:RP 57:NW,RP 58:NW 59:NW 60:HE 61:HE 63:HE,BY 64:HE,BW,BY 65:HE,RP 66:SL,RP 67:RP 68:BW,HE 69:BW,HE
70:BW 71:BW 72:BW 73:BW 74:BW,BY 75:BW 76:BW,RP 77:BW 78:BW 79:BW 80:BY 81:BY 82:BY 83:BY 84:BY 85:BY 86:BY 87:BY
88:BW,BY 89:BW,BY 90:BY 91:BY 92:BY 93:BY 94:BY 95:BY 96:BY,TH 97:BY,BW,HE,TH 98:TH,BY 99:TH,HE,ST,NI
"""
_AUSTRIAN = "1:9,3 2:3,1,9 3:3,4 4:4,3,5 5:5,4 6:7,8 7:1,3 8:6,1 9:2,7"
# Areas of postcodes that cross a border are left out; any other is English.
_BRITISH = {
    "NIR": "BT",
    "SCT": "AB DD EH FK G HS IV KA KW KY ML PA PH ZE",
    "WLS": "CF NP SA",
    "": "CH DG HR LD LL SY TD GL CA NE",
}
ALL: frozenset[str] = frozenset()


@cache
def _parents() -> dict[tuple[str, str], str]:
    return {
        (country, part): state
        for country, states in _PARTS.items()
        for state, parts in states.items()
        for part in parts.split()
    }


@cache
def _prefixes() -> dict[str, dict[str, frozenset[str]]]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for country, table in (("DEU", _GERMAN), ("AUT", _AUSTRIAN)):
        rows = (row.split(":") for row in table.split())
        found[country] = {prefix: frozenset(states.split(",")) for prefix, states in rows}
    found["FRA"] = {
        part: frozenset((state,)) for state, parts in _PARTS["FRA"].items() for part in parts.split() if part.isdigit()
    }
    found["FRA"]["20"] = frozenset(("20R",))
    found["GBR"] = {
        area: frozenset((state,)) if state else ALL for state, areas in _BRITISH.items() for area in areas.split()
    }
    return found


def upper(country: str, state: str) -> str:
    """The state of the level that leads have: England for Kent."""
    if country == "CZE" and len(state) == 3:
        return state[:2]  # districts have the code of their region and a letter or figure
    return _parents().get((country, state), state)


def states_of_prefix(country: str, code: str) -> frozenset[str]:
    """The states that a postal code may be of; ALL if it may be of any, or that is not known."""
    table = _prefixes().get(country)
    if table is None or not code:
        return ALL
    code = code.upper().strip()
    if country == "GBR":
        area = code[: 1 + code[1:2].isalpha()]
        return table.get(area, frozenset(("ENG",)) if area.isalpha() else ALL)
    return table.get(code[: 1 if country == "AUT" else 2], ALL)
