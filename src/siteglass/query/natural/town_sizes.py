"""How many people a town needs for its name to be meant: all thresholds, each with what it decides.

Measured on the vocabulary's cities: 1,998 of their names are also one everyday word, and 774 of these cities have
100,000 people or more. A value is where, by size, the names that people mean begin to outnumber the words. "Worse" is
what half and twice of a value do to 941 labelled sentences with a place, and to 318 probes. Where it is missing, both
read them the same."""

# The name is also an everyday word. From this size on it is meant where it has a capital, or a place is expected. Just
# below are "limpio", "compton", "bag", "coma"; just above "vista", "albany", "bath", "delta". Half would add 319 names.
# Worse: twice 1.
WORD_TOWN = 100_000
# With a capital and after a preposition of place: "in Flint". Below are "campanha", "nails", "playa"; half adds 567.
EXPECTED_TOWN = 30_000
# In a list. Below are "tarde", "torn", "hub"; above "geneva", "linz", but "luck", too. Half would add 268.
LISTED_TOWN = 200_000
# Anywhere else. Below are "roles", "haga", "mesa", and "liverpool", "miami" as the price; half would add 152.
# Worse: twice 9; with half, one probe is better.
WORD_CITY = 500_000
# Several everyday words in small letters: "de moins" is not Des Moines. Half would add 461 of 5,223 names.
# Worse: twice 1.
PHRASE_CITY = 300_000
# A name with a trade or product of the same name, where nothing says that a place is meant. As WORD_TOWN.
# Worse: twice 2.
TOOL_TOWN = 100_000
# The name of a state of a country whose states are seldom named, and of a city.
FOREIGN_TOWN = 100_000
# The name of a state, and of a town in that state. Worse: half 3, twice 2.
OWN_STATE_TOWN = 50_000
# At the end of a phrase, without a preposition: "dentists miami".
LAST_CITY = 100_000
# Right after its country: "croatia split zadar".
INSIDE_TOWN = 20_000

# Another city of the same name is offered if it has so many people, and this share of those of the one taken.
NAMESAKE = 30_000
NAMESAKE_SHARE = 0.02
# From this share on, the reading is less sure.
NEAR_SHARE = 0.6
# A smaller city is meant beside others of its country, if it has this share of the people of the largest. Worse: twice
# 1.
NEIGHBOUR_SHARE = 0.5
# In a sentence of a language, a name means a city of its home country from this share on. Without it, "Los Angeles" in
# Spanish is a town in Spain.
HOME_SHARE = 0.3
