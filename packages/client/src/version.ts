/** Version of this release line; every package of it carries the same. */
export const VERSION = '0.3.2'
