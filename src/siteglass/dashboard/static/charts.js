// Draws what <div class="chart" data-chart="…"> says: days, series of numbers, bars on top of each other.
"use strict";
