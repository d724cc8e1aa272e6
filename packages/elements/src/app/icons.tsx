/** @jsxImportSource preact */

/** Paths of the icons, on a grid of 24. */
const PATHS = {
  chat: 'M21 12a8 8 0 0 1-8 8H4l2-3.2A8 8 0 1 1 21 12Z M8.5 12h.01 M12.5 12h.01 M16.5 12h.01',
  send: 'M12 19V5 M5.5 11.5 12 5l6.5 6.5',
  more: 'M12 5v.5 M12 11.75v.5 M12 18.5v.5',
  close: 'M6 6l12 12 M18 6 6 18',
  up: 'M7 11v9H4v-9h3Zm0 0 4-8c1.6 0 2.8 1.2 2.5 3L13 9h5.2c1.3 0 2.2 1.2 1.9 2.4l-1.6 6.6c-.3 1.2-1.2 2-2.4 2H7',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z M12 7.5V12l3 2',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  alert: 'M12 8v5 M12 16.5h.01 M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.3 1.3 M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.3-1.3',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z M4.5 20.5c.8-3.8 3.8-5.5 7.5-5.5s6.7 1.7 7.5 5.5',
  phone:
    'M6.5 3.5h3l1.5 4.5-2 1.5a12 12 0 0 0 5.5 5.5l1.5-2 4.5 1.5v3c0 1.2-.9 2-2 2A15.5 15.5 0 0 1 4.5 5.5c0-1.1.8-2 2-2Z',
  mail: 'M3.5 5.5h17v13h-17v-13Z M4 6l8 7 8-7',
  lock: 'M6 11h12v9.5H6V11Z M8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  download: 'M12 4v11 M7 10.5l5 5 5-5 M4.5 20h15',
  restart: 'M4.5 12a7.5 7.5 0 1 0 2.5-5.6 M4.5 4v4h4',
  next: 'M9 5.5 15.5 12 9 18.5',
  offline: 'M3 3l18 18 M8.5 16.5a5 5 0 0 1 7 0 M5 12.9a10 10 0 0 1 14 0 M12 20h.01',
} as const

export type IconName = keyof typeof PATHS

/** A decorative icon: the text beside it, or the name of its button, says the same. */
export function Icon({ name, turns }: { name: IconName; turns?: boolean }) {
  return (
    <svg class={turns ? 'icon turns' : 'icon'} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
