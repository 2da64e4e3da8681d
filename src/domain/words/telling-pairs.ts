/**
 * Information that one typing of each key pair gives about its typist, in fourteenths of a nat, as base-36 digits. Row: first
 * key; column: second key; a to z, then Space. From the variances between and within 1,000 people of the 136M Keystrokes data set
 * (Dhakal et al., CHI 2018), see src/calibration/key-pairs.ts. Pairs that few of them typed twice are shrunk to the mean. It contains
 * no person's typing. `npm run bench -- words --data <folder> --table FILE` writes a table that has writers of KLiCKe too; its words
 * identify people no better (model/notebook.md).
 */
export const TELLING_PAIRS = `
kikifljdgjiefffdjkihgmilfig
kjjjmjjjjjjkjjhjjghjnjjjljk
ojfjmjjhhimijjjjjfjlfjjjijh
ojjgfjjjejjnjmfjjigjiojjjjl
oljh9gnffjjeigghjjhgmgjnlji
kjjjaajjhjjijjkjjnjecjjjjjj
jjjjijlidjjmjffjjmilgjjjkjm
gjjjhjjjpjjjkojjjhkhijjjjjn
femfehmgijjknrsfjehimojijjp
jjjjfjjjhjjjjjgjjjjjgjjjjjj
hjjjhjjjpjjkjxjjjjkjjjjjijr
gkjmgjjjljgejjdkjhkhmjjjljq
egnjhjjjhjjj9jkjjjljijjjhjn
hjmjfonjhkojj8mjjbfjiojjfjm
kolimmkjkjndotaejihlrpljijp
gjjjgjjkjjjmijhdjlkomjjjjjo
jjjjjjjjjjjjjjjjjjjjljjjjjj
jjilikujfjpkkjdkj8jdhjnjijj
gjkfijjidjihifdhjj7kjjijjji
iikjfjjhhhjjjiijjhkaljjjdjl
gkkgdjjjnjjmflhkjjhljjjjljx
hjjjjjjjkjjjjjdjjjjjjjjjjjk
qjjjejjijjjjjjkjjenjijjjjjj
jjjjljjjjjjjjjjnjjjnjjjjjjg
jjjjgjjjjjjjjjqjjjekjjjjjjo
jjjjjjjjjjjjjjjjjjjjjjjjjjj
kmmjkolnplnommposmknlknjqjb
`
