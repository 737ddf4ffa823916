/** How large a store may become when nobody says otherwise: one that is larger is a mistake of somebody, and slow. */
export const STORE_BYTES = 2 * 1024 ** 3;
