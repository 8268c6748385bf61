# Oracle of the Nelson-Aalen estimate and its variance (survfit's cumhaz and std.chaz), late entry, weights and people included.
# Run from the repository root: Rscript test/oracles/history/nelson-aalen.R   (writes test/oracles/history/nelson-aalen.json)
suppressMessages({library(survival); library(jsonlite)}); options(warn=1)
read<-function(name) read.csv(paste0("test/tables/",name,".csv"))
mgus2<-read("mgus2"); heart<-read("heart"); cgd<-read("cgd"); mgus2$any<-1*(mgus2$event!="censored")
say<-function(f) list(time=f$time,hazard=f$cumhaz,variance=f$std.chaz^2)
out<-list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival")),
 plain=say(survfit(Surv(months,any)~1,mgus2)),
 late=say(survfit(Surv(ageMonths,exitMonths,any)~1,mgus2)),
 weights=say(survfit(Surv(months,any)~1,mgus2,weights=weight,robust=TRUE)),
 both=say(survfit(Surv(ageMonths,exitMonths,any)~1,mgus2,weights=weight,id=id,robust=TRUE)),
 heart=say(survfit(Surv(start,stop,event)~1,heart,id=id,robust=TRUE)),
 cgd=say(survfit(Surv(tstart,tstop,status)~1,cgd,id=id,robust=TRUE)))
writeLines(toJSON(out,digits=I(17),auto_unbox=TRUE),"test/oracles/history/nelson-aalen.json")
