/** The settings of the alerts on one scorer, by name: levels are positions from 0 to 1, severities 0 (off), 1 (ticket) or 2 (page). */
export type AlertSettings = Readonly<Record<string, number>>
