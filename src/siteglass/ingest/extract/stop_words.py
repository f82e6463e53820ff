"""Words that say nothing about what a site is about: grammar and navigation in the larger languages, in lower case."""

from __future__ import annotations

_WORDS = {
    "en": """the and for are but not you all any can her was one our out had has him his how its may new now old
        see two way who did get let say she too use with this that from they have your will what when where
        which their there been were would could should about into more most other some such only own same
        than then these those very just over under again once here why both each few nor don you're we're
        it's i'm can't also every many much make made take find like best great good need want help between
        after before around another during through while because without within might must comes goes going
        said says latest first last since across us we me my it is in on at to of by as or if so up be do an
        am no go he""",
    "de": """der die das und ist nicht ein eine einer eines einem einen mit auf für von dem den des zu im am um
        aus bei nach auch sich sie wir ihr uns ihre ihren ihrer ihrem unser unsere unseren unserer als wie
        wird werden sind oder aber nur noch mehr über haben hat zum zur bis durch alle alles kann können
        wenn dass hier jetzt sowie diese dieser dieses vor unter was wer immer sehr vom ins ihnen ihn mir
        mich dir man damit dann doch schon""",
    "fr": """les des une est pour que qui dans sur par avec pas plus vous nous votre vos notre nos son ses leur
        leurs sont cette ces aux mais tout tous toute toutes comme être avoir fait faire ainsi chez sans
        sous entre après avant très aussi bien dont où même elle elles ils""",
    "es": """los las una uno del por con para que como más pero sus este esta estos estas son nos nuestro nuestra
        nuestros nuestras todo todos toda todas muy sin sobre entre también hasta desde cuando donde quien
        porque ser está están hay tiene ver usted cada otro otra otros""",
    "pt": """dos das uma umas com para que por mais mas como seu sua seus suas nosso nossa nossos nossas são não
        pelo pela você está todos todas todo toda sobre entre até quando muito também isso este esta ser tem
        nos aos foi""",
    "it": """gli una uno del della dei delle dello degli con per che non più come sono nostro nostra nostri
        nostre suo sua tutto tutti tutte anche alla alle allo agli nel nella nelle nei dal dalla sul sulla
        questo questa questi dove quando essere molto ogni tra fra vostro vostra""",
    "nl": """het een van voor met niet zijn aan ook dat die deze dit wij jij uw onze ons bij naar maar meer over
        door als wordt worden heeft hebben kan kunnen alle alles nog wat wie hoe waar zoals tot uit om op te""",
    "pl": """jest nie się dla oraz przez jak jako ich nas nasz nasza nasze naszej naszych są jego tym tego które
        który która pod nad czy ale lub już tylko także może być wszystko wszystkie""",
    "sv": """och att det som för med till den har inte ett vår våra oss kan alla från eller men vara ska när där
        här mer din dina du vi på av om så""",
    "da": """og at det som for med til den har ikke et vores os kan alle fra eller men være skal når hvor her
        mere din jer""",
    "tr": """ve bir bu için ile olarak daha çok olan gibi kadar her sizin bizim tüm veya ama değil var""",
    "ru": """и в на не что он как это все она так его но они мы вы от по для или из наш наша наши вас нас ваш
        ваши при за можно более также есть быть только уже если до чтобы который которые где""",
    "pages": """home homepage menu search login logout register account cart checkout contact email mail phone tel
        fax page pages site website web www com http https click read learn view show skip content main
        navigation close open next previous back top copyright rights reserved privacy policy policies terms
        conditions cookie cookies accept settings language english deutsch français español share follow
        subscribe newsletter facebook twitter instagram linkedin youtube pinterest tiktok whatsapp
        startseite impressum datenschutz agb suche anmelden warenkorb kontakt weiter zurück mehr accueil
        recherche panier connexion mentions légales inicio buscar carrito contacto aviso política privacidad
        cerca carrello contatti accedi zoeken winkelwagen welcome willkommen bienvenue bienvenido benvenuti
        untitled january february march april june july august september october november december monday
        tuesday wednesday thursday friday saturday sunday today javascript browser loading please sign
        toggle img jpg png pdf min amp nbsp quot""",
}
STOP_WORDS = frozenset(word for words in _WORDS.values() for word in words.split())
