/** Settings of limits, audit and log files. */
export const limitSettings = {}
