/** Name of the second file, without its extension. */
export declare const LOGIN_FILE: string
/** Code that finds the address of the script. */
export declare const SCRIPT_INTRO: string
/** Code that loads the second file. */
export declare const LOGIN_LOADER: string
/** The module in place of the login. */
export declare const LOGIN_MODULE: string
