/** How large a store may become when nobody says otherwise: one that is larger is a mistake of somebody, and slow. */
export const STORE_BYTES = 2 * 1024 ** 3;
/** Of an embedded one, which holds all of it in memory, several times over while it works on it: its memory has a bound too. */
export const STORE_BYTES_IN_MEMORY = 256 * 1024 ** 2;
