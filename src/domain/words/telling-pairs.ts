/**
 * What one typing of each key pair tells of who typed it, in fourteenths of a nat, as digits of base 36: a row a first key,
 * a column a second key, a to z and then Space. Made by `npm run bench -- words --data <folder> --table <this file>` from the
 * variances between and within 1,000 people of the 136M Keystrokes data set (Dhakal et al., CHI 2018), see
 * src/calibration/key-pairs.ts; pairs that few of them typed twice are drawn to the mean. No typing of anybody is in it.
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
