/** Why a rule cannot be asked of a deployment. */
export type Need = 'client' | 'contact-center' | 'faults' | 'login'

/** Each need in words. */
export const NEEDS: Readonly<Record<Need, string>> = {
  client: 'a rule of the library alone; its own tests prove it',
  'contact-center': 'needs portals, profiles or a connector, which the emulator has',
  faults: 'needs failures, closes or time on request, which the emulator has',
  login: 'needs the login of a user, or the lifetime of tokens, which the emulator has',
}

const BY_NEED: Readonly<Record<Need, string>> = {
  client: `CFG-01 CFG-02 CFG-04 CFG-06 CFG-07 CFG-08 CFG-09 CFG-11 CFG-12 CFG-13 CFG-15 INIT-11 FLOW-18 FLOW-20 REST-05
    REST-07 REST-08 REST-10 WS-03 OPS-01 OPS-04 OPS-05 OPS-06 OPS-07 EVT-04 EVT-06 EVT-09 ERR-03 VER-01 OWN-05 OWN-23
    OWN-25 OWN-33 LIM-01`,
  'contact-center': `INIT-01 INIT-02 INIT-03 INIT-04 INIT-05 INIT-07 INIT-08 INIT-10 FLOW-10 FLOW-11 FLOW-12 FLOW-13
    FLOW-14 FLOW-15 FLOW-16 FLOW-17 FLOW-19 FLOW-21 FLOW-22 FLOW-23 FLOW-25 FLOW-26 REST-03 REST-04 REST-06 OPS-02
    OPS-03 EVT-01 EVT-02 EVT-03 ERR-01 ERR-02`,
  faults: `CFG-05 FLOW-03 FLOW-04 FLOW-08 WS-05 EVT-07 OWN-01 OWN-03 OWN-20 OWN-30 OWN-31 OWN-32`,
  login: `AUTH-01 AUTH-04 AUTH-06 AUTH-07 AUTH-11 AUTH-13 EVT-05`,
}

/** The rules that need the emulator, with the reason. */
export const EMULATOR_RULES: ReadonlyMap<string, Need> = new Map(
  (Object.entries(BY_NEED) as [Need, string][]).flatMap(([need, ids]) =>
    ids.split(/\s+/).map((id): [string, Need] => [id, need]),
  ),
)
