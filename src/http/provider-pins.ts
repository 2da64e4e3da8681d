/**
 * SHA-256 of every linux, darwin and win32 (x64, arm64) binary in the npm republication of uWebSockets.js, by
 * `platform_arch_abi`. Computed from the package that package-lock.json installs (`sha256sum *.node`). A binary of another
 * version is not loaded without a change here.
 */
export const pinnedBinaries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@btc-vision/uwebsockets.js': {
    darwin_arm64_115: 'fe600f03f02ea7443d15ca7ae47bd4489b40b3543bc30a6db2b3048e2a04261f',
    darwin_arm64_127: 'c8ca6162869372a5d4acd66aa8c835286ed6e897d125ddb88875b5ab7f68bc09',
    darwin_arm64_137: '51546f781dfd41b4c3820f7198d94d953af1dd4a22745ccda2fcf5eec3e4edf8',
    darwin_arm64_141: 'e3a1c06653e6fc53d969730f38f528e0984f94220261836b9972fc5912d261fb',
    darwin_x64_115: '4f749a19869da5914e8c02a032ee06b4e5d26cd918b4a845c69eea7bdd9f7c34',
    darwin_x64_127: '3ad68d013ed3d8c5251b07ddb099c59e051d1a468cc4c471185383cf7125a882',
    darwin_x64_137: '249e85589d9d39445f70765a10e1f3b0b142b7d1b406f360ea27681e0025fb02',
    darwin_x64_141: '1c680445ed7dbd124aefc4bae7edc13b6eb2583efc6573ad890484188eac484b',
    linux_arm64_115: '5f179165f9ade910999ce8724d71ecdcc4f7e1b944053683d98bfda62665e081',
    linux_arm64_127: 'db310856b4d36b2b6e83888c9faa87ccd65454e6157f457bf9cb4ebabaed7a65',
    linux_arm64_137: 'ad0ffb42a119ee022ba1fc752d942e5a19b863ce47bfdc909cd1d5bc1363a7a6',
    linux_arm64_141: '0d5d90b098e82bdb461f276c614942b0a33d85c922e403861c0990cc961cd13f',
    linux_x64_115: '3c4cfd4f4673c591dbca82cdda94f7e0ad9bc298966c39a7bd259838c2b25d4f',
    linux_x64_127: '0e0af5d0e486b67e25dd5c6686f8f05be4504629404d5c1972c808ab5d8e4cc2',
    linux_x64_137: '9aa8b857ac4ab0bfb1245e948eeeacc904b13a3608c9a281d551c43c66bea66e',
    linux_x64_141: '0958d6d6dd863240494539d02a34d41de24a2d7c1552c4a41efb3744ec56298e',
    win32_x64_115: 'c8798bd1685caaf1c00ba0f76e018ddde00f0c3ec52380c4b0ebf8cf8ddc3658',
    win32_x64_127: 'e8dbaf78d65aece0c8c2e11e8ee0a1e40323bf857b4c85106d5e4d21c67c0168',
    win32_x64_137: 'b4f8fb7e3a593f32cecef9faaf2b0242e89e224120226cfc00a20bfd33b06927',
    win32_x64_141: 'e7779c5fd33bef5d313fc2ec9c34b7636c16c2d4a2f3bcd17d3cd6c9143bdc98',
  },
}
