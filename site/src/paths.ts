import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The folder of the site. */
export const SITE = join(ROOT, 'site')
/** The pages that VitePress renders: copies of documents, and the written reference of the API. */
export const PAGES = join(SITE, '.cache', 'pages')
/** The built site. */
export const DIST = join(SITE, 'dist')
/** The table of contents of the guide, from which the site takes its sections. */
export const CONTENTS = 'docs/guide/README.md'
