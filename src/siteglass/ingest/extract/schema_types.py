"""Types of schema.org that name an organisation, and the kind of business that each one says it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Organisations under these keys are others: what is sold, who is hired for, who is reviewed.
_OF_OTHERS = [
    "brand",
    "manufacturer",
    "hiringOrganization",
    "memberOf",
    "member",
    "parentOrganization",
    "affiliation",
    "worksFor",
    "alumniOf",
    "itemReviewed",
    "funder",
    "sponsor",
    "location",
    "areaServed",
    "department",
    "subOrganization",
    "owns",
    "author",
    "review",
    "recognizedBy",
    "performer",
    "organizer",
    "provider",
    "seller",
]

# What addresses and numbers under these keys are: those of whoever sells tickets, wrote a review, or made a product.
_CONTACTS_OF_OTHERS = (
    "manufacturer", "memberOf", "member", "alumniOf", "funder", "sponsor", "author", "review", "performer", "seller",
    "offeredBy", "recognizedBy", "broker", "organizer", "reviewedBy",
)  # fmt: skip

# Service type: the types that say so. Without one: an organisation whose type does not say its kind.
_TYPES = {
    "": """Organization Corporation LocalBusiness OnlineBusiness Brand Cooperative Consortium Airline Project
        WorkersUnion""",
    "Local Business": """ProfessionalService HomeAndConstructionBusiness Electrician GeneralContractor HVACBusiness
        HousePainter Locksmith MovingCompany Plumber RoofingContractor AutomotiveBusiness AutoBodyShop AutoRepair
        AutoWash
        AutoDealer AutoRental GasStation MotorcycleDealer MotorcycleRepair HealthAndBeautyBusiness BeautySalon DaySpa
        HairSalon HealthClub NailSalon TattooParlor ExerciseGym DryCleaningOrLaundry ChildCare SelfStorage AnimalShelter
        SportsActivityLocation SportsClub BowlingAlley TennisComplex GolfCourse SkiResort EmergencyService FireStation
        PoliceStation RecyclingCenter RadioStation TravelAgency FuneralHome""",
    "Ecommerce": """OnlineStore Store BikeStore BookStore ClothingStore ComputerStore ConvenienceStore DepartmentStore
        ElectronicsStore Florist FurnitureStore GardenStore GroceryStore HardwareStore HobbyShop HomeGoodsStore
        JewelryStore
        LiquorStore MensClothingStore MobilePhoneStore MusicStore OfficeEquipmentStore OutletStore PawnShop PetStore
        ShoeStore SportingGoodsStore TireShop ToyStore WholesaleStore AutoPartsStore""",
    "Hospitality": """FoodEstablishment Restaurant Bakery BarOrPub Brewery CafeOrCoffeeShop Distillery
    FastFoodRestaurant
        IceCreamShop Winery LodgingBusiness Hotel Motel Hostel Resort BedAndBreakfast Campground VacationRental""",
    "Healthcare": """MedicalBusiness MedicalOrganization MedicalClinic Physician Dentist Hospital Pharmacy Optician
        DiagnosticLab CommunityHealth Dermatology Dermatologic Gynecologic Midwifery Nursing Optometric Pediatric
        Physiotherapy PlasticSurgery Podiatric Psychiatric VeterinaryCare DietNutrition PrimaryCare""",
    "Firm": "LegalService Attorney Notary AccountingService EmploymentAgency",
    "Financial Services": "FinancialService BankOrCreditUnion InsuranceAgency AutomatedTeller InvestmentOrDeposit",
    "Realtor": "RealEstateAgent",
    "Education": """EducationalOrganization CollegeOrUniversity School ElementarySchool HighSchool MiddleSchool
    Preschool
        LanguageSchool""",
    "Government": "GovernmentOrganization GovernmentOffice GovernmentService CityHall Embassy Courthouse PostOffice",
    "Non-Profit": "NGO Church Mosque Synagogue PlaceOfWorship FundingScheme",
    "Publisher": "NewsMediaOrganization Newspaper",
    "Entertainment": """EntertainmentBusiness AmusementPark ArtGallery Casino ComedyClub MovieTheater NightClub
        PerformingGroup MusicGroup DanceGroup TheaterGroup Museum Zoo Aquarium StadiumOrArena SportsTeam
        SportsOrganization""",
}
SERVICE_TYPE_OF = {name: service for service, names in _TYPES.items() for name in names.split()}


def types_of(node: dict[str, Any]) -> list[str]:
    """The types of an object of JSON-LD, without the address of the vocabulary."""
    stated = node.get("@type")
    several = stated if isinstance(stated, list) else [stated]
    return [one.strip().rpartition("/")[2].rpartition(":")[2] for one in several[:10] if isinstance(one, str)]


def organisations(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The objects that are organisations and may be the site's own."""
    others: set[int] = set()
    for node in nodes:
        for key in _OF_OTHERS:
            value = node.get(key)
            others.update(map(id, value if isinstance(value, list) else (value,)))
    return (node for node in nodes if id(node) not in others and not SERVICE_TYPE_OF.keys().isdisjoint(types_of(node)))


def contact_holders(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The objects whose addresses and numbers may be the site's own."""
    others: set[int] = set()
    for node in nodes:
        if id(node) in others:  # outer objects come before inner ones
            others.update(id(value) for value in node.values() if isinstance(value, dict))
        for key in _CONTACTS_OF_OTHERS:
            if key in node:
                value = node[key]
                others.update(map(id, value if isinstance(value, list) else (value,)))
    return (node for node in nodes if id(node) not in others)
