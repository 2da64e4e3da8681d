import { MADE_UP_PREFIX } from '../domain/user-ref.js'
import { LOCATIONS, type Location } from './locations.js'

/** The device that a pattern is typed on, as the recorder describes it. */
export interface Device {
  readonly ua: string
  readonly sW: number
  readonly sH: number
  readonly dpr: number
  readonly cpuThreads: number
  readonly gpu: string
}

const chrome = (system: string) =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36`
const WINDOWS = 'Windows NT 10.0; Win64; x64'
const MAC = 'Macintosh; Intel Mac OS X 10_15_7'
const LINUX = 'X11; Linux x86_64'

const deviceOf = (ua: string, [sW, sH, dpr]: readonly [number, number, number], cpuThreads: number, gpu: string) => ({
  ua,
  sW,
  sH,
  dpr,
  cpuThreads,
  gpu,
})

/** Laptops and desktops of the staff; the first ones are the most common. */
const DEVICES: readonly Device[] = [
  deviceOf(chrome(WINDOWS), [1920, 1080, 1], 8, 'Intel Iris Xe'),
  deviceOf(`${chrome(WINDOWS)} Edg/142.0.0.0`, [1920, 1200, 1.25], 12, 'Intel UHD Graphics'),
  deviceOf(chrome(MAC), [1728, 1117, 2], 10, 'Apple M3'),
  deviceOf(
    `Mozilla/5.0 (${MAC}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15`,
    [1512, 982, 2],
    8,
    'Apple M2',
  ),
  deviceOf(`Mozilla/5.0 (${WINDOWS}; rv:144.0) Gecko/20100101 Firefox/144.0`, [2560, 1440, 1], 16, 'NVIDIA RTX A2000'),
  deviceOf(`Mozilla/5.0 (${LINUX}; rv:144.0) Gecko/20100101 Firefox/144.0`, [2560, 1440, 1], 16, 'AMD Radeon 780M'),
]
export const HEADLESS = deviceOf(
  chrome(LINUX).replace('Chrome/', 'HeadlessChrome/'),
  [800, 600, 1],
  2,
  'Google SwiftShader',
)
export const NEW_LAPTOP = deviceOf(chrome(MAC), [1800, 1169, 2], 12, 'Apple M4')
export const STRANGERS_LAPTOP = deviceOf(chrome(WINDOWS), [1366, 768, 1], 4, 'Intel HD Graphics 520')

/** A made-up person of the demo organization. */
export interface DemoPerson {
  /** Seed of the typing and of everything that is drawn for the person. */
  readonly seed: number
  readonly userRef: string
  /** Null on a nominative account. */
  readonly memberRef: string | null
  readonly displayName: string
  readonly group: string
  readonly timeZone: string
  readonly language: string
  readonly office: Location
  readonly home: Location
  readonly device: Device
  /** Reference patterns that the person enrolls. */
  readonly references: number
}

const NAMES = [
  ...['Ada Lind', 'Ben Okafor', 'Clara Weiss', 'David Moreau', 'Elif Kaya', 'Felix Braun', 'Grace Obi', 'Hugo Petit'],
  ...[
    'Ines Costa',
    'Jonas Vogel',
    'Kim Larsen',
    'Lea Fontaine',
    'Marco Ricci',
    'Nora Schulz',
    'Omar Haddad',
    'Paula Roth',
  ],
  ...[
    'Quentin Faure',
    'Rosa Marin',
    'Samir Aziz',
    'Tessa Blum',
    'Uwe Lorenz',
    'Vera Novak',
    'Wim Jansen',
    'Xenia Wolf',
  ],
  ...[
    'Yara Haddad',
    'Zoe Martin',
    'Anton Keller',
    'Bianca Rossi',
    'Cem Aydin',
    'Dora Klein',
    'Emil Nilsson',
    'Fanny Girard',
  ],
  ...['Gabor Toth', 'Hanna Beck'],
]
const GROUPS = ['engineering', 'support', 'sales', 'finance']
const PARIS = { office: LOCATIONS.parisOffice, timeZone: 'Europe/Paris', language: 'fr-FR' }
const BERLIN = { office: LOCATIONS.berlinOffice, timeZone: 'Europe/Berlin', language: 'de-DE' }
const HOMES = [
  [LOCATIONS.parisHomes, LOCATIONS.versaillesHomes, LOCATIONS.parisHomes, LOCATIONS.lyonHomes],
  [LOCATIONS.berlinHomes, LOCATIONS.potsdamHomes, LOCATIONS.berlinHomes, LOCATIONS.leipzigHomes],
] as const
/** References of a complete profile. */
const COMPLETE = 5
/** Devices and groups are drawn with these shares, by index. */
const DEVICE_OF = [0, 0, 1, 2, 0, 3, 1, 4, 2, 5, 0]
const GROUP_OF = [0, 1, 2, 0, 3, 1, 0]

const atIndex = <T>(list: readonly T[], i: number): T => list[i % list.length] as T

/** The last two of the staff have not completed their enrollment. */
const STAFF: readonly DemoPerson[] = NAMES.map((name, i) => ({
  seed: i + 1,
  userRef: MADE_UP_PREFIX + name.toLowerCase().replace(' ', '.'),
  memberRef: null,
  displayName: `${name} (made up)`,
  group: atIndex(GROUPS, atIndex(GROUP_OF, i)),
  ...atIndex([PARIS, PARIS, BERLIN], i),
  home: atIndex(HOMES[i % 3 === 2 ? 1 : 0], i >> 1),
  device: atIndex(DEVICES, atIndex(DEVICE_OF, i)),
  references: i < NAMES.length - 2 ? COMPLETE : NAMES.length - i,
}))

/** The members of a shared account, who type at the same desk. */
const FRONT_DESK: readonly DemoPerson[] = ['early-shift', 'late-shift'].map((memberRef, i) => ({
  seed: 101 + i,
  userRef: `${MADE_UP_PREFIX}front-desk`,
  memberRef,
  displayName: `${memberRef === 'early-shift' ? 'Early shift' : 'Late shift'} (made up)`,
  group: 'support',
  ...PARIS,
  home: LOCATIONS.parisOffice,
  device: atIndex(DEVICES, 0),
  references: COMPLETE,
}))

export const DEMO_PEOPLE: readonly DemoPerson[] = [...STAFF, ...FRONT_DESK]
