"""Technologies as sites really carry them: tags in the head and the body, headers, cookies."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Plant:
    """What a technology leaves behind. $N is a number of the account, $K a key, $H the host."""

    head: str = ""
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()


def _script(src: str, attributes: str = "") -> str:
    return f'<script src="{src}"{attributes}></script>'


# The platform comes first on a site; its layout draws the rest of what it is known by.
PLATFORMS: dict[str, str] = {
    "Shopify": "shopify",
    "Wix": "wix",
    "Squarespace": "squarespace",
    "Webflow": "webflow",
    "WooCommerce": "wordpress",
    "WordPress": "wordpress",
    "Next.js": "next",
    "TYPO3 CMS": "imprint",
    "Joomla": "joomla",
    "Drupal": "drupal",
    "React": "react_shell",
    "Blogger": "modern",
}
# Their customers choose no server and no language of it.
HOSTED = frozenset({"Shopify", "Wix", "Squarespace", "Webflow", "Blogger", "GitHub Pages"})

PLANTS: dict[str, Plant] = {
    "Shopify": Plant(
        head=_script("https://cdn.shopify.com/s/files/1/$N/t/4/assets/theme.js", " defer")
        + "<script>var Shopify = Shopify || {}; Shopify.shop = '$K.myshopify.com'; Shopify.locale = 'en';</script>",
        headers=(
            ("X-ShopId", "$N"),
            ("X-Shopify-Stage", "production"),
            ("Set-Cookie", "_shopify_y=$K; path=/; secure"),
        ),
    ),
    "Wix": Plant(
        head='<meta name="generator" content="Wix.com Website Builder">'
        '<link rel="preconnect" href="https://static.wixstatic.com">'
        + _script("https://static.parastorage.com/services/wix-thunderbolt/dist/main.$K.bundle.min.js", " async"),
        headers=(("X-Wix-Request-Id", "$N.$K"), ("Server", "Pepyaka")),
    ),
    "Squarespace": Plant(
        head="<!-- This is Squarespace. --><!-- $K -->"
        + _script("https://assets.squarespace.com/universal/scripts-compressed/common-$K-min.en-US.js")
        + '<script>Static = window.Static || {}; Static.SQUARESPACE_CONTEXT = {"rollups":{},"pageType":2};</script>',
        headers=(("Server", "Squarespace"), ("Set-Cookie", "crumb=$K; Path=/")),
    ),
    "Webflow": Plant(
        head='<meta content="Webflow" name="generator">'
        '<link href="https://cdn.prod.website-files.com/$K/css/site.webflow.$K.css" rel="stylesheet">',
        body=_script("https://cdn.prod.website-files.com/$K/js/webflow.$K.js"),
    ),
    "WordPress": Plant(
        head='<meta name="generator" content="WordPress 6.6.2">'
        '<link rel="https://api.w.org/" href="https://$H/wp-json/">'
        '<link rel="stylesheet" id="wp-block-library-css" href="/wp-includes/css/dist/block-library/style.min.css">',
        body=_script("/wp-includes/js/wp-embed.min.js?ver=6.6.2"),
        headers=(("Link", '<https://$H/wp-json/>; rel="https://api.w.org/"'),),
    ),
    "WooCommerce": Plant(
        head='<meta name="generator" content="WooCommerce 9.3.3">'
        '<link rel="stylesheet" href="/wp-content/plugins/woocommerce/assets/css/woocommerce.css?ver=9.3.3">',
        body=_script("/wp-content/plugins/woocommerce/assets/js/frontend/add-to-cart.min.js?ver=9.3.3"),
    ),
    "Yoast SEO": Plant(
        head="<!-- This site is optimized with the Yoast SEO plugin v23.5 - "
        "https://yoast.com/wordpress/plugins/seo/ --><!-- / Yoast SEO plugin. -->"
    ),
    "Elementor": Plant(
        head='<link rel="stylesheet" href="/wp-content/plugins/elementor/assets/css/frontend.min.css?ver=3.24.5">'
    ),
    "Contact Form 7": Plant(body=_script("/wp-content/plugins/contact-form-7/includes/js/index.js?ver=5.9.8")),
    "Next.js": Plant(
        head=_script("/_next/static/chunks/main-$K.js", " defer"),
        body='<script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{}},"page":"/","buildId":"$K"}'
        "</script>",
        headers=(("X-Powered-By", "Next.js"),),
    ),
    "React": Plant(
        head=_script("https://unpkg.com/react@18.2.0/umd/react.production.min.js", " crossorigin")
        + _script("https://unpkg.com/react-dom@18.2.0/umd/react-dom.production.min.js", " crossorigin")
    ),
    "TYPO3 CMS": Plant(
        head='<meta name="generator" content="TYPO3 CMS"><link rel="stylesheet" href="/typo3temp/assets/css/$K.css">'
    ),
    "Joomla": Plant(
        head='<meta name="generator" content="Joomla! - Open Source Content Management">'
        + _script("/media/system/js/core.min.js?$K")
    ),
    "Drupal": Plant(
        head='<meta name="Generator" content="Drupal 10 (https://www.drupal.org)">',
        body=_script("/core/misc/drupal.js?v=10.3.5"),
        headers=(("X-Generator", "Drupal 10 (https://www.drupal.org)"), ("X-Drupal-Cache", "HIT")),
    ),
    "Blogger": Plant(
        head='<meta content="blogger" name="generator"><link rel="me" href="https://www.blogger.com/profile/$N">'
        + _script("https://www.blogger.com/static/v1/widgets/$N-widgets.js"),
        headers=(("Server", "GSE"),),
    ),
    "GitHub Pages": Plant(headers=(("Server", "GitHub.com"), ("X-GitHub-Request-Id", "$K"))),
    "Google Analytics": Plant(
        head=_script("https://www.googletagmanager.com/gtag/js?id=G-$K", " async")
        + "<script>window.dataLayer = window.dataLayer || []; function gtag(){dataLayer.push(arguments);}"
        "gtag('js', new Date()); gtag('config', 'G-$K');</script>"
    ),
    "Google Tag Manager": Plant(
        head="<script>(function(w,d,s,l,i){w[l]=w[l]||[];w[l].push({'gtm.start':new Date().getTime(),event:'gtm.js'});"
        "var j=d.createElement(s);j.async=true;j.src='https://www.googletagmanager.com/gtm.js?id='+i;"
        "d.head.appendChild(j);})(window,document,'script','dataLayer','GTM-$K');</script>",
        body='<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-$K" height="0" width="0"></iframe>'
        "</noscript>",
    ),
    "Google Ads": Plant(
        head=_script("https://www.googletagmanager.com/gtag/js?id=AW-$N", " async")
        + "<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments);}"
        "gtag('config','AW-$N');gtag('event','conversion',{'send_to':'AW-$N/$K'});</script>"
    ),
    "Facebook Pixel": Plant(
        head="<script>!function(f,b,e,v,n,t,s){if(f.fbq)return;n=f.fbq=function(){n.queue.push(arguments)};n.queue=[];"
        "t=b.createElement(e);t.async=!0;t.src=v;b.head.appendChild(t)}"
        "(window,document,'script','https://connect.facebook.net/en_US/fbevents.js');fbq('init','$N');"
        "fbq('track','PageView');</script>",
        body='<noscript><img height="1" width="1" alt="" src="https://www.facebook.com/tr?id=$N&amp;ev=PageView&amp;'
        'noscript=1"></noscript>',
    ),
    "TikTok Pixel": Plant(
        head="<script>!function(w,d,t){w.TiktokAnalyticsObject=t;var ttq=w[t]=w[t]||[];ttq.load=function(e){"
        "var i='https://analytics.tiktok.com/i18n/pixel/events.js';var o=d.createElement('script');o.src=i+'?sdkid='+e;"
        "d.head.appendChild(o)};ttq.load('$K');ttq.page();}(window,document,'ttq');</script>"
    ),
    "Linkedin Insight Tag": Plant(
        body='<script>_linkedin_partner_id = "$N"; window._linkedin_data_partner_ids = ["$N"];</script>'
        + _script("https://snap.licdn.com/li.lms-analytics/insight.min.js", " async")
        + '<noscript><img height="1" width="1" alt="" src="https://px.ads.linkedin.com/collect/?pid=$N&amp;fmt=gif">'
        "</noscript>"
    ),
    "Microsoft Advertising": Plant(
        body="<script>(function(w,d,t,r,u){w[u]=w[u]||[];var n=d.createElement(t);n.src=r;d.body.appendChild(n);"
        "w[u].push({ti:'$N'});})(window,document,'script','//bat.bing.com/bat.js','uetq');</script>"
    ),
    "Microsoft Clarity": Plant(
        head="<script>(function(c,l,a,r,i){c[a]=c[a]||function(){(c[a].q=c[a].q||[]).push(arguments)};"
        "var t=l.createElement(r);t.async=1;t.src='https://www.clarity.ms/tag/'+i;l.head.appendChild(t);})"
        "(window,document,'clarity','script','$K');</script>"
    ),
    "Hotjar": Plant(
        head="<script>(function(h,o,t,j){h.hj=h.hj||function(){};h._hjSettings={hjid:$N,hjsv:6};var r=o.createElement("
        "'script');r.async=1;r.src=t+h._hjSettings.hjid+j;o.head.appendChild(r);})"
        "(window,document,'https://static.hotjar.com/c/hotjar-','.js?sv=');</script>"
    ),
    "HubSpot": Plant(
        body=_script("//js.hs-scripts.com/$N.js", ' id="hs-script-loader" async defer'),
        headers=(("Set-Cookie", "hubspotutk=$K; path=/"),),
    ),
    "Klaviyo": Plant(body=_script("https://static.klaviyo.com/onsite/js/klaviyo.js?company_id=$K", " async")),
    "MailChimp": Plant(
        body='<form action="https://$K.us21.list-manage.com/subscribe/post?u=$K&amp;id=$N" method="post" '
        'id="mc-embedded-subscribe-form" class="validate"><input type="email" name="EMAIL" id="mce-EMAIL" '
        'placeholder="you@example.com"><input type="submit" value="OK"></form>'
    ),
    "Stripe": Plant(head=_script("https://js.stripe.com/v3/")),
    "PayPal": Plant(body=_script("https://www.paypal.com/sdk/js?client-id=$K&amp;currency=EUR")),
    "Intercom": Plant(
        body="<script>window.intercomSettings={api_base:'https://api-iam.intercom.io',app_id:'$K'};(function(){"
        "var s=document.createElement('script');s.async=true;s.src='https://widget.intercom.io/widget/$K';"
        "document.head.appendChild(s);})();</script>"
    ),
    "Zendesk": Plant(body=_script("https://static.zdassets.com/ekr/snippet.js?key=$K", ' id="ze-snippet"')),
    "Tawk.to": Plant(
        body="<script>var Tawk_API=Tawk_API||{};(function(){var s=document.createElement('script');s.async=true;"
        "s.src='https://embed.tawk.to/$K/default';document.head.appendChild(s);})();</script>"
    ),
    "Criteo": Plant(
        head=_script("https://dynamic.criteo.com/js/ld/ld.js?a=$N", " async")
        + "<script>window.criteo_q = window.criteo_q || []; window.criteo_q.push({event: 'viewHome'});</script>"
    ),
    "RTB House": Plant(body='<iframe src="https://creativecdn.com/tags?id=pr_$K_home" width="1" height="1"></iframe>'),
    "DoubleClick Floodlight": Plant(
        head=_script("https://www.googletagmanager.com/gtag/js?id=DC-$N", " async")
        + "<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments);}"
        "gtag('config','DC-$N');</script>"
    ),
    "Pinterest Conversion Tag": Plant(
        head="<script>!function(e){if(!window.pintrk){window.pintrk=function(){window.pintrk.queue.push("
        "Array.prototype.slice.call(arguments))};var n=window.pintrk;n.queue=[];var t=document.createElement('script');"
        "t.async=!0;t.src=e;document.head.appendChild(t)}}('https://s.pinimg.com/ct/core.js');"
        "pintrk('load','$N');pintrk('page');</script>"
    ),
    "Snap Pixel": Plant(
        head="<script>(function(e,t,n){if(e.snaptr)return;e.snaptr=function(){};var r=t.createElement('script');"
        "r.async=!0;r.src=n;t.head.appendChild(r)})(window,document,'https://sc-static.net/scevent.min.js');"
        "snaptr('init','$K');</script>"
    ),
    "Taboola": Plant(
        head="<script>window._tfa = window._tfa || []; window._tfa.push({notify: 'event', name: 'page_view', id: $N});"
        "</script>" + _script("https://cdn.taboola.com/libtrc/unip/$N/tfa.js", " async")
    ),
    "Judge.me": Plant(body=_script("https://cdn.judge.me/widget_preloader.js", " async")),
    "Trustpilot": Plant(
        body=_script("https://widget.trustpilot.com/bootstrap/v5/tp.widget.bootstrap.min.js", " async")
    ),
    "Trusted Shops": Plant(body=_script("https://widgets.trustedshops.com/js/$K.js", " async")),
    "Klarna Checkout": Plant(body=_script("https://js.klarna.com/web-sdk/v1/klarna.js", " async")),
    "Usercentrics": Plant(
        head='<script id="usercentrics-cmp" src="https://app.usercentrics.eu/browser-ui/latest/loader.js" '
        'data-settings-id="$K" async></script>'
    ),
    "iubenda": Plant(body=_script("https://cdn.iubenda.com/cs/iubenda_cs.js", " async")),
    "CallRail": Plant(body=_script("https://cdn.callrail.com/companies/$N/$K/12/swap.js", " async")),
    "Birdeye": Plant(body=_script("https://birdeye.com/embed/v6/$N/1/$N", " async")),
    "WP Rocket": Plant(body=_script("/wp-content/plugins/wp-rocket/assets/js/lazyload/17.8.3/lazyload.min.js")),
    "Gravity Forms": Plant(body=_script("/wp-content/plugins/gravityforms/js/gravityforms.min.js?ver=2.8.18")),
    "Divi": Plant(head='<link rel="stylesheet" href="/wp-content/themes/Divi/style-static.min.css?ver=4.27.1">'),
    "Vimeo": Plant(body='<iframe src="https://player.vimeo.com/video/$N" title="video" allowfullscreen></iframe>'),
    "Calendly": Plant(body=_script("https://assets.calendly.com/assets/external/widget.js", " async")),
    "Zocdoc": Plant(body=_script("https://offsiteschedule.zocdoc.com/plugin/embed", " async")),
    "NexHealth": Plant(body='<iframe src="https://app.nexhealth.com/appt/$K?lid=$N" title="Book online"></iframe>'),
    "Acuity Scheduling": Plant(
        body='<iframe src="https://app.acuityscheduling.com/schedule.php?owner=$N" title="Schedule"></iframe>'
        + _script("https://embed.acuityscheduling.com/js/embed.js")
    ),
    "Square Appointments": Plant(body=_script("https://square.site/appointments/buyer/widget/$K/$K.js")),
    "Jane App": Plant(body=_script("https://$K.janeapp.com/widgets/latest.js")),
    "Doctolib": Plant(body='<iframe src="https://www.doctolib.de/iframe/$K" title="Termin buchen"></iframe>'),
    "Doctoralia": Plant(body=_script("https://platform.docplanner.com/js/widget.js", ' id="zldoctor"')),
    "Timify": Plant(body=_script("https://widget.timify.com/js/widget.js", ' id="timify-widget" data-id="$K"')),
    "Cloudbeds": Plant(body='<iframe src="https://hotels.cloudbeds.com/widget/load/$K/horizontal"></iframe>'),
    "SiteMinder": Plant(body='<iframe src="https://direct-book.com/properties/$Kdirect?locale=en"></iframe>'),
    "Mews": Plant(body=_script("https://www.mews.li/distributor/distributor.min.js")),
    "Lodgify": Plant(body=_script("https://app.lodgify.com/portable-search-bar/stable/renderPortableSearchBar.js")),
    "Booking.com widget": Plant(
        body='<ins class="bookingaff" data-aid="$N" data-prod="nsb" data-width="100%"></ins>'
        + _script("https://aff.bstatic.com/static/affiliate_base/js/flexiproduct.js")
    ),
    "OpenTable": Plant(
        body=_script("https://www.opentable.com/widget/reservation/loader?rid=$N&amp;type=standard&amp;theme=wide")
    ),
    "Resy": Plant(body=_script("https://widgets.resy.com/embed.js")),
    "Thefork": Plant(body='<iframe src="https://widget.thefork.com/$K" allow="payment"></iframe>'),
    "Quandoo": Plant(body=_script("https://booking-widget.quandoo.com/index.js", ' data-merchant-id="$N"')),
    "Fresha": Plant(body=_script("https://widget.fresha.com/$K/widget.js", " async")),
    "Booksy": Plant(body=_script("https://booksy.com/widget/code.js?id=$N&amp;country=us&amp;lang=en")),
    "Vagaro": Plant(body=_script("https://www.vagaro.com/resources/WidgetEmbeddedLoader/$K")),
    "Treatwell": Plant(body='<iframe src="https://buchung.treatwell.de/ort/$N/menue/" title="Termin"></iframe>'),
    "MindBody": Plant(body=_script("https://widgets.mindbodyonline.com/javascripts/healcode.js")),
    "Glofox": Plant(body='<iframe src="https://app.glofox.com/portal/#/branch/$K/classes-week-view"></iframe>'),
    "Housecall Pro": Plant(body=_script("https://online-booking.housecallpro.com/script.js?token=$K", " async")),
    "Jobber": Plant(body=_script("https://d3ey4dbjkt2f6s.cloudfront.net/assets/external/work_request_embed.js")),
    "Cookiebot": Plant(
        head='<script id="Cookiebot" src="https://consent.cookiebot.com/uc.js" data-cbid="$K" async></script>'
    ),
    "reCAPTCHA": Plant(body=_script("https://www.google.com/recaptcha/api.js?render=$K")),
    "Matomo Analytics": Plant(
        body="<script>var _paq=window._paq=window._paq||[];_paq.push(['trackPageView']);(function(){"
        "var u='//$H/matomo/';_paq.push(['setTrackerUrl',u+'matomo.php']);var g=document.createElement('script');"
        "g.src=u+'matomo.js';document.head.appendChild(g);})();</script>"
    ),
    "jQuery": Plant(head=_script("https://code.jquery.com/jquery-3.7.1.min.js")),
    "Bootstrap": Plant(
        head='<link rel="stylesheet" href="https://cdn.jsdelivr.net/npm/bootstrap@5.3.3/dist/css/bootstrap.min.css">',
        body=_script("https://cdn.jsdelivr.net/npm/bootstrap@5.3.3/dist/js/bootstrap.bundle.min.js"),
    ),
    "Swiper": Plant(body=_script("https://cdn.jsdelivr.net/npm/swiper@11.1.4/swiper-bundle.min.js")),
    "Font Awesome": Plant(
        head='<link rel="stylesheet" href="https://cdnjs.cloudflare.com/ajax/libs/font-awesome/6.5.2/css/all.min.css">'
    ),
    "Google Font API": Plant(
        head='<link rel="preconnect" href="https://fonts.gstatic.com" crossorigin><link rel="stylesheet" '
        'href="https://fonts.googleapis.com/css2?family=Inter:wght@400;600&amp;display=swap">'
    ),
    "Google Maps": Plant(
        body='<iframe src="https://www.google.com/maps/embed?pb=!1m18!1m12!1m3!1d$N!2d13.4!3d52.5" loading="lazy">'
        "</iframe>"
    ),
    "YouTube": Plant(
        body='<iframe src="https://www.youtube.com/embed/$K?rel=0" title="video" allowfullscreen></iframe>'
    ),
    "Cloudflare": Plant(headers=(("Server", "cloudflare"), ("CF-RAY", "$K-FRA"), ("CF-Cache-Status", "DYNAMIC"))),
    "Nginx": Plant(headers=(("Server", "nginx/1.24.0"),)),
    "Apache": Plant(headers=(("Server", "Apache/2.4.58 (Ubuntu)"),)),
    "LiteSpeed": Plant(headers=(("Server", "LiteSpeed"),)),
    "PHP": Plant(headers=(("X-Powered-By", "PHP/8.2.24"), ("Set-Cookie", "PHPSESSID=$K; path=/"))),
    "HSTS": Plant(headers=(("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),)),
    # Drawn by the pages themselves: the tags need the site's own title.
    "Open Graph": Plant(),
}
# One name in the header `Server`; the first one here gets it.
_SERVERS = ("Wix", "Squarespace", "Blogger", "GitHub Pages", "Cloudflare", "Nginx", "Apache", "LiteSpeed")
_WORDPRESS_PLUGINS = frozenset({"Yoast SEO", "Elementor", "Contact Form 7", "WP Rocket", "Gravity Forms", "Divi"})
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def platform(technologies: tuple[str, ...]) -> str:
    """What the site is built with, "" if that is not known."""
    return next((name for name in PLATFORMS if name in technologies), "")


def plantable(technologies: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the technologies that leave a trace, one platform and one server at most."""
    # A shop is its shop, then what carries it: WooCommerce needs WordPress beside it.
    kept = [name for name in technologies if name in PLANTS]
    platforms = [name for name in PLATFORMS if name in kept]
    if platforms:
        own = {platforms[0]} | ({"WordPress"} if platforms[0] == "WooCommerce" else set())
        kept = [name for name in kept if name not in PLATFORMS or name in own]
        kept += [name for name in sorted(own) if name not in kept]
    if "WordPress" not in kept:
        kept = [name for name in kept if name not in _WORDPRESS_PLUGINS]
    servers = [name for name in _SERVERS if name in kept]
    # A hosted platform names its own server, and stays.
    beaten = {name for name in servers[1:] if name not in PLATFORMS}
    if "Next.js" in kept or not HOSTED.isdisjoint(kept):
        beaten.add("PHP")
    return tuple(name for name in kept if name not in beaten)


def planted(rng: Random, technologies: tuple[str, ...], host: str) -> tuple[str, str, list[tuple[str, str]]]:
    """Tags for the head, tags for the body's end, headers."""
    number = str(10**8 + int(rng.random() * 9 * 10**8))
    key = "".join(rng.choices(_LETTERS, k=12))

    def filled(text: str) -> str:
        return text.replace("$N", number).replace("$K", key).replace("$H", host)

    plants = [PLANTS[name] for name in technologies]
    headers = [(name, filled(value)) for plant in plants for name, value in plant.headers]
    if not any(name == "Server" for name, _ in headers):
        headers.append(("Server", "web"))
    return filled("\n".join(p.head for p in plants)), filled("\n".join(p.body for p in plants)), headers
