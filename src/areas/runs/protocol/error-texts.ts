/** Texts of a Runtime Server that runtimed understands: what an `error_message`, or the refusal of an `Execute`, begins with. */
export const OUT_OF_MEMORY = 'out of memory: the Run took more than it may, and was killed';
export const LIMITS_UNAVAILABLE = 'LimitsUnavailable';
