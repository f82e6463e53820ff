"""Software of made-up sites: a platform by kind of business and country, what comes with it, what is added."""

from __future__ import annotations

# Platform -> what usually comes with it, with its probability in percent.
COMPANIONS: dict[str, str] = {
    "WordPress": "PHP:100 MySQL:100 jQuery:88 Yoast SEO:44 RankMath SEO:14 Elementor:38 Divi:9 "
    "wpBakery:10 WP Rocket:12 Contact Form 7:30 Gravity Forms:8 Wordfence:10 Slick:8 Swiper:16",
    "WooCommerce": "WordPress:100 PHP:100 MySQL:100 jQuery:95 Yoast SEO:48 Elementor:40 WP Rocket:15 Stripe:46 "
    "PayPal:52",
    "Shopify": "Cloudflare:82 Shop Pay:70 Klaviyo:34 Judge.me:22 Recharge:5 Gorgias:6 PayPal:50 "
    "Yotpo Reviews:7 Smile:5",
    "Wix": "React:92 Node.js:60 Varnish:50",
    "Squarespace": "Varnish:10 Typekit:35",
    "Webflow": "jQuery:80 Amazon Web Services:70 Swiper:18 GSAP:12",
    "Next.js": "React:100 Node.js:100 webpack:90 Vercel:46 Sentry:24 Contentful:12 Sanity:10 Algolia:7",
    "Nuxt.js": "Vue.js:100 Node.js:100 Netlify:16 Storyblok:12",
    "Drupal": "PHP:100 jQuery:80 Varnish:24",
    "Joomla": "PHP:100 MySQL:60 jQuery:92 Bootstrap:70",
    "TYPO3 CMS": "PHP:100 jQuery:62 Matomo Analytics:34",
    "Magento": "PHP:100 MySQL:100 RequireJS:88 Varnish:30 PayPal:44",
    "PrestaShop": "PHP:100 MySQL:96 jQuery:90 PayPal:48",
    "Shopware": "PHP:100 Symfony:60 PayPal:66 Klarna Checkout:24",
    "BigCommerce": "Stripe:20 PayPal:56",
    "Adobe Experience Manager": "Java:90 Adobe Analytics:66 Akamai:52",
    "Sitecore": "Microsoft ASP.NET:100 IIS:90 Azure:40",
    "Microsoft ASP.NET": "IIS:92 jQuery:80 Bootstrap:46",
    "Laravel": "PHP:100 Livewire:10 Alpine.js:18 Tailwind CSS:26",
    "Ruby on Rails": "Ruby:100 jQuery:30",
    "Django": "Python:100",
    "1C-Bitrix": "PHP:100 jQuery:70 Yandex.Metrika:72",
    "Moodle": "PHP:100 MySQL:40 jQuery:70",
    "Ghost": "Node.js:100 Stripe:20",
}

_SMALL = "WordPress:46 Wix:15 Squarespace:8 GoDaddy Website Builder:6 Weebly:2 Duda:3 Webflow:3 Joomla:3 -:12"
_OFFICE = "WordPress:56 Wix:7 Squarespace:7 Webflow:6 Joomla:3 Drupal:2 Microsoft ASP.NET:3 HubSpot CMS Hub:2 -:14"
_SHOP = "Shopify:42 WooCommerce:27 Magento:5 PrestaShop:4 BigCommerce:3 Squarespace:3 Wix:6 Next.js:2 Laravel:2 -:6"
_TECH = "Next.js:30 WordPress:18 Webflow:19 HubSpot CMS Hub:5 Gatsby:5 Nuxt.js:5 React:6 Ruby on Rails:4 Django:4 -:8"
_LARGE = "Adobe Experience Manager:18 WordPress:20 Drupal:16 Sitecore:10 Next.js:12 Microsoft ASP.NET:9 Liferay:2 -:13"
_PUBLIC = "WordPress:36 Drupal:26 TYPO3 CMS:3 Microsoft ASP.NET:12 Joomla:5 Umbraco:2 Plone:1 -:15"
PLATFORMS: dict[str, str] = {
    "Local Business": _SMALL,
    "Hospitality": _SMALL,
    "Realtor": _SMALL,
    "Healthcare": _SMALL,
    "Firm": _OFFICE,
    "Consultant": _OFFICE,
    "Financial Services": _OFFICE,
    "Manufacturer": _OFFICE,
    "Non-Profit": _OFFICE,
    "Entertainment": _OFFICE,
    "Agency": "WordPress:46 Webflow:20 Next.js:10 Squarespace:5 Framer Sites:4 Wix:3 HubSpot CMS Hub:3 Nuxt.js:3 -:6",
    "Education": "WordPress:48 Moodle:12 Drupal:8 Wix:7 Joomla:4 Squarespace:4 Thinkific:3 Teachable:2 -:12",
    "Publisher": "WordPress:64 Ghost:6 Drupal:5 Blogger:4 Next.js:6 Joomla:3 -:12",
    "Government": _PUBLIC,
    "Ecommerce": _SHOP,
    "Marketplace": "Laravel:15 Next.js:22 Ruby on Rails:9 WooCommerce:18 Magento:8 Shopify:7 Nuxt.js:6 -:15",
    "SaaS": _TECH,
    "Mobile App": _TECH,
    "Gaming": "WordPress:26 Next.js:18 Squarespace:8 Wix:8 Webflow:9 Nuxt.js:5 React:8 -:18",
    "Enterprise": _LARGE,
}
# What a country has besides, as a share of its sites, in place of the platform drawn; shops apart.
LOCAL: dict[str, str] = {
    "DEU": "TYPO3 CMS:11 Jimdo:6 | Shopware:22 JTL Shop:9",
    "AUT": "TYPO3 CMS:10 Jimdo:4 | Shopware:18",
    "CHE": "TYPO3 CMS:10 | Shopware:9",
    "NLD": "| Lightspeed eCom:14",
    "FRA": "| PrestaShop:26",
    "ESP": "| PrestaShop:25",
    "ITA": "| PrestaShop:16",
    "POL": "| PrestaShop:22",
    "BRA": "| VTEX:12 Nuvemshop:18 Tray:10 Loja Integrada:9",
    "ARG": "| Nuvemshop:34",
    "RUS": "1C-Bitrix:20 Tilda:12 | 1C-Bitrix:40",
    "UKR": "1C-Bitrix:5 Tilda:8 | OpenCart:20",
    "KOR": "| Cafe24:44",
    "JPN": "| MakeShop:14",
    "CHN": "DedeCMS:8 |",
}

# Software -> probability in percent, first for all sites, then for kinds of business that differ.
ADDED: dict[str, str] = {
    "Google Analytics": "62 Ecommerce:84 SaaS:82 Agency:84 Government:48 Gaming:55",
    "Google Tag Manager": "38 Ecommerce:66 SaaS:72 Agency:70 Enterprise:74 Government:18 Local_Business:28",
    "Facebook Pixel": "17 Ecommerce:58 Agency:36 SaaS:30 Government:1 Enterprise:24 Entertainment:30",
    "Google Ads": "11 Ecommerce:36 SaaS:34 Healthcare:15 Financial_Services:22 Government:1 Local_Business:10",
    "Microsoft Advertising": "3 Ecommerce:12 SaaS:14 Financial_Services:8 Government:0",
    "TikTok Pixel": "2 Ecommerce:17 Entertainment:6 Gaming:8 Government:0",
    "Pinterest Conversion Tag": "1 Ecommerce:12 Publisher:3 Government:0",
    "Linkedin Insight Tag": "4 SaaS:42 Agency:18 Enterprise:30 Consultant:10 Government:0 Ecommerce:3",
    "Criteo": "0.5 Ecommerce:5 Marketplace:8",
    "Google AdSense": "2 Publisher:44 Government:0 SaaS:0 Entertainment:7 Gaming:9",
    "Google Publisher Tag": "0.5 Publisher:24 Entertainment:4",
    "HubSpot": "4 SaaS:42 Agency:24 Consultant:11 Enterprise:12 Manufacturer:6 Government:1",
    "Salesforce": "1.5 Enterprise:24 SaaS:12 Financial_Services:6 Education:3",
    "Pipedrive": "0.6 Agency:4 SaaS:2 Consultant:2",
    "Zoho CRM": "0.7 SaaS:2 Realtor:2",
    "Marketo": "0.4 Enterprise:14 SaaS:8",
    "MailChimp": "9 Ecommerce:17 Non-Profit:26 Publisher:16 Agency:14 Government:2",
    "ActiveCampaign": "1.6 Agency:7 Consultant:5 Education:4 SaaS:3",
    "Constant Contact": "1.2 Non-Profit:8 Local_Business:2",
    "Klaviyo": "0.4 Ecommerce:9",
    "Stripe": "4 Ecommerce:24 SaaS:36 Marketplace:38 Non-Profit:16 Education:12 Government:1",
    "PayPal": "3 Ecommerce:28 Non-Profit:16 Marketplace:24 Government:0.5",
    "Klarna Checkout": "0.3 Ecommerce:7",
    "Intercom": "1 SaaS:26 Marketplace:9 Mobile_App:9",
    "Zendesk": "1.6 SaaS:13 Ecommerce:9 Marketplace:15 Gaming:9",
    "Tawk.to": "4 Local_Business:4 Ecommerce:8 Agency:6 Government:0.5",
    "Drift": "0.3 SaaS:7",
    "Crisp Live Chat": "0.8 SaaS:5 Agency:3",
    "LiveChat": "1 Ecommerce:4 Healthcare:3",
    "Calendly": "2 Consultant:20 Agency:13 SaaS:8 Firm:6 Realtor:6 Government:0",
    "Acuity Scheduling": "0.6 Local_Business:3 Healthcare:4 Consultant:3",
    "OpenTable": "0.1 Hospitality:13",
    "Doctolib": "0 Healthcare:3",
    "Zocdoc": "0 Healthcare:5",
    "Cloudbeds": "0 Hospitality:4",
    "Placester": "0 Realtor:9",
    "Clio": "0 Firm:5",
    "Plaid": "0.1 Financial_Services:5 SaaS:2",
    "Moodle": "0.2 Education:6",
    "Firebase": "1 Mobile_App:46 SaaS:8 Gaming:12",
    "OneSignal": "1.5 Mobile_App:13 Publisher:15",
    "Branch": "0.1 Mobile_App:16",
    "Cloudflare": "23 SaaS:40 Ecommerce:36 Gaming:38 Government:12",
    "Amazon Web Services": "9 SaaS:40 Enterprise:34 Mobile_App:38 Marketplace:32",
    "Azure": "2.5 Enterprise:13 Government:9",
    "Google Cloud": "3 SaaS:14 Mobile_App:18",
    "Akamai": "1 Enterprise:16",
    "Google Font API": "54",
    "Font Awesome": "31",
    "Bootstrap": "22",
    "jQuery": "30",
    "reCAPTCHA": "22 Government:15",
    "HSTS": "26 SaaS:54 Enterprise:52 Government:40 Local_Business:12",
    "Open Graph": "58 Agency:80 Publisher:88 Ecommerce:72",
    "YouTube": "13 Education:22 Entertainment:32 Gaming:36",
    "Google Maps": "19 Local_Business:32 Hospitality:38 Healthcare:34 Realtor:40 SaaS:2",
    "Hotjar": "5 SaaS:24 Ecommerce:14 Agency:15",
    "Microsoft Clarity": "6 Ecommerce:12 Agency:16 SaaS:12",
    "Matomo Analytics": "3 Government:17 Education:6 Non-Profit:5",
    "Segment": "0.6 SaaS:19 Mobile_App:12",
    "Mixpanel": "0.4 SaaS:11 Mobile_App:14",
    "Amplitude": "0.3 SaaS:9 Mobile_App:12",
    "Optimizely": "0.3 Enterprise:8 SaaS:4",
    "Cookiebot": "6 Enterprise:9 Government:1",
    "OneTrust": "1 Enterprise:34 SaaS:6",
    "CookieYes": "5",
    "Trustpilot": "1.4 Ecommerce:8 Financial_Services:6",
    "UserWay": "1.5 Government:4 Education:3",
    "Chatbase": "0.8 SaaS:3 Agency:3",
    "OpenAI": "0.6 SaaS:9 Mobile_App:8 Agency:2",
    "Typeform": "1 SaaS:4 Agency:5 Consultant:4",
    "Greenhouse": "0.2 SaaS:9 Enterprise:7",
    "Discord": "0.1 Gaming:26",
    "Sucuri": "0.8",
}
# One server, where the platform does not bring its own.
SERVERS = "Nginx:40 Apache:28 LiteSpeed:10 OpenResty:2 -:20"
HOSTED = frozenset(
    ["Shopify", "Wix", "Squarespace", "Webflow", "GoDaddy Website Builder", "Weebly", "Duda", "Jimdo", "Framer Sites"]
)

# Tags that stand for bought advertising; they drive the spending.
ADVERTISING = frozenset(
    {
        "Facebook Pixel",
        "Google Ads",
        "Microsoft Advertising",
        "TikTok Pixel",
        "Pinterest Conversion Tag",
        "Linkedin Insight Tag",
        "Criteo",
    }
)
# How a platform moves the score, and multiplies the load time.
PACE: dict[str, tuple[float, float]] = {
    "Next.js": (10, 0.62),
    "Nuxt.js": (7, 0.68),
    "Gatsby": (9, 0.55),
    "Webflow": (5, 0.75),
    "Ghost": (6, 0.7),
    "Shopify": (3, 0.9),
    "Squarespace": (-1, 1.1),
    "WordPress": (1, 1.1),
    "WooCommerce": (1, 1.3),
    "Wix": (-8, 1.45),
    "Weebly": (-8, 1.2),
    "GoDaddy Website Builder": (-9, 1.2),
    "Joomla": (-5, 1.2),
    "Magento": (-2, 1.6),
    "Elementor": (-3, 1.3),
    "Divi": (-4, 1.35),
    "wpBakery": (-5, 1.4),
    "WP Rocket": (4, 0.6),
    "Yoast SEO": (6, 1.0),
    "RankMath SEO": (6, 1.0),
    "Cloudflare": (1, 0.88),
    "Akamai": (2, 0.8),
    "Adobe Experience Manager": (3, 1.2),
}
